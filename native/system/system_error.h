#pragma once

#include <exception>
#include <string>

namespace evictd {

// A failed system call.
class SystemError : public std::exception {
 public:
  // `error`: the system's number (error_text.h). `path`: may be empty.
  SystemError(int error, const char* syscall, std::string path = std::string());

  // Node's format: "ENOENT: no such file or directory, open '/x'".
  const char* what() const noexcept override { return message_.c_str(); }

  int error() const { return error_; }
  const char* syscall() const { return syscall_; }
  const std::string& path() const { return path_; }

 private:
  int error_;
  const char* syscall_;
  std::string path_;
  std::string message_;
};

}  // namespace evictd
