#include "read/linux/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace evictd {

namespace {

// Sizes: memory.stat of v2 1.6 KiB, meminfo 1.5, hierarchical memory.stat of v1 1.2.
constexpr size_t kInitialBytes = 8 * 1024;
constexpr size_t kMaximumBytes = 4 * 1024 * 1024;

}  // namespace

TextBuffer::TextBuffer() : bytes_(kInitialBytes) {}

int TextBuffer::ReadBeginning(int fd, std::string_view* text) {
  for (;;) {
    const ssize_t length = pread(fd, bytes_.data(), bytes_.size(), 0);
    if (length >= 0) {
      *text = std::string_view(bytes_.data(), static_cast<size_t>(length));
      return 0;
    }
    if (errno != EINTR) return errno;
  }
}

int TextBuffer::Read(int fd, std::string_view* text) {
  for (;;) {
    const int error = ReadBeginning(fd, text);
    if (error != 0) return error;
    // The kernel writes such a file as one record: a read that does not fill the buffer has all of it.
    if (text->size() < bytes_.size()) return 0;
    if (bytes_.size() >= kMaximumBytes) return EFBIG;
    bytes_.resize(bytes_.size() * 2);
  }
}

int OpenForReading(int directory, const char* path) {
  return openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

Reader::Reader(std::vector<FileSpec> files) {
  files_.reserve(files.size());
  for (FileSpec& spec : files) {
    fields_ += spec.fields();
    files_.push_back({std::move(spec), UniqueFd()});
  }
  for (size_t file = 0; file < files_.size(); file++) Open(file);
}

int Reader::Open(size_t file) {
  File& opened = files_[file];
  if (!opened.fd) opened.fd.Reset(OpenForReading(AT_FDCWD, opened.spec.path.c_str()));
  return opened.fd ? 0 : errno;
}

void Reader::Read(double* values, int32_t* errors) {
  for (size_t file = 0; file < files_.size(); file++) {
    int error = Open(file);
    if (error == 0) error = ReadFile(&files_[file], values);
    if (error != 0 && !files_[file].fd) ForgetValues(files_[file].spec, values);
    errors[file] = error;
    values += files_[file].spec.fields();
  }
}

int Reader::ReadFile(File* file, double* values) {
  std::string_view text;
  const int error = buffer_.Read(file->fd.get(), &text);
  if (error == ENODEV || !file->spec.keepable()) file->fd.Reset();
  if (error == 0) return ParseKernelText(file->spec, text, values);
  ForgetValues(file->spec, values);
  return error;
}

}  // namespace evictd
