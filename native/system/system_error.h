#pragma once

#include <exception>
#include <string>

namespace evictd {

// A system call that failed: what js_error turns into an Error with code, errno, syscall and path.
class SystemError : public std::exception {
 public:
  // `error`: as the system numbers them (common/error_text). `path`: the file concerned, empty where there is none.
  SystemError(int error, const char* syscall, std::string path = std::string());

  // The form Node gives its own: "ENOENT: no such file or directory, open '/x'".
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
