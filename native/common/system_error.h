#ifndef EVICTD_COMMON_SYSTEM_ERROR_H_
#define EVICTD_COMMON_SYSTEM_ERROR_H_

#include <exception>
#include <string>

namespace evictd {

// A system call that failed: what js_error turns into an Error with code, errno, syscall and path.
class SystemError : public std::exception {
 public:
  // `path`: the file concerned, empty where there is none.
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

// "ENOENT" for ENOENT; "E<number>" for an error without a name here. (glibc's strerrorname_np would ask for
// glibc 2.32.)
std::string ErrorName(int error);

// Whether this process was short of something (descriptors, memory): it says nothing about what was tried, and passes.
bool IsShortage(int error);

}  // namespace evictd

#endif  // EVICTD_COMMON_SYSTEM_ERROR_H_
