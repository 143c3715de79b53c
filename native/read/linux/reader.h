#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/unique_fd.h"

namespace evictd {

// A buffer for one file at a time; grows only for a larger file.
class TextBuffer {
 public:
  TextBuffer();

  // Reads the whole file in one pread. The text is valid until the next call. Returns 0 or errno (EFBIG beyond 4 MiB).
  int Read(int fd, std::string_view* text);
  // Reads no more than fits: enough to see whether the file is empty.
  int ReadBeginning(int fd, std::string_view* text);

 private:
  std::vector<char> bytes_;
};

// Does not block on a FIFO or terminal. Returns -1 and errno on failure.
int OpenForReading(int directory, const char* path);

// Files opened once and read in one pass.
class Reader {
 public:
  // Each read tries again to open a file that cannot be opened.
  explicit Reader(std::vector<FileSpec> files);

  size_t files() const { return files_.size(); }
  size_t fields() const { return fields_; }
  const FileSpec& spec(size_t file) const { return files_[file].spec; }

  // Writes fields() values and files() errors (0 or errno). A vanished file (ENODEV) is closed, and opened again at the
  // next read.
  void Read(double* values, int32_t* errors);

  // Opens the file if it is closed. Returns 0 or errno.
  int Open(size_t file);

 private:
  struct File {
    FileSpec spec;
    UniqueFd fd;
  };

  int ReadFile(File* file, double* values);

  std::vector<File> files_;
  size_t fields_ = 0;
  TextBuffer buffer_;
};

}  // namespace evictd
