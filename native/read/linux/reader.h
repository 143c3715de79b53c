#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/unique_fd.h"

namespace evictd {

// Where the text of one file at a time is put: allocated and touched once, grown only when a file is larger than any
// before.
class TextBuffer {
 public:
  TextBuffer();

  // The whole file from its beginning, in one pread. The text is good until the next call. Returns 0 or errno (EFBIG
  // beyond 4 MiB).
  int Read(int fd, std::string_view* text);
  // No more of the file than fits now: for who only asks whether anything is in it.
  int ReadBeginning(int fd, std::string_view* text);

 private:
  std::vector<char> bytes_;
};

// Opens a kernel file for reading. A FIFO or terminal given by mistake does not block. -1 and errno on failure.
int OpenForReading(int directory, const char* path);

// Files opened once and read in one pass.
class Reader {
 public:
  // A file that cannot be opened now is tried again at each read.
  explicit Reader(std::vector<FileSpec> files);

  size_t files() const { return files_.size(); }
  size_t fields() const { return fields_; }
  const FileSpec& spec(size_t file) const { return files_[file].spec; }

  // Fills fields() values and files() errors (errno, 0: fine). A file that vanished (ENODEV) is closed, and opened
  // again at the next read.
  void Read(double* values, int32_t* errors);

  // Opens what is closed; returns errno of the file.
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
