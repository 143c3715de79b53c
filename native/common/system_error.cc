#include "common/system_error.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

namespace evictd {

namespace {

struct NamedError {
  int error;
  const char* name;
};

// What open, read, write, flock, statfs, pidfd_*, epoll_* and pthread_create can return.
constexpr NamedError kNamedErrors[] = {
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {ESRCH, "ESRCH"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {EBADF, "EBADF"},
    {ECHILD, "ECHILD"},
    {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},
    {ENODEV, "ENODEV"},
    {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {ENOTTY, "ENOTTY"},
    {ETXTBSY, "ETXTBSY"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {ESPIPE, "ESPIPE"},
    {EROFS, "EROFS"},
    {EPIPE, "EPIPE"},
    {ERANGE, "ERANGE"},
    {EDEADLK, "EDEADLK"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOLCK, "ENOLCK"},
    {ENOSYS, "ENOSYS"},
    {ENOTEMPTY, "ENOTEMPTY"},
    {ELOOP, "ELOOP"},
    {ENODATA, "ENODATA"},
    {EBADMSG, "EBADMSG"},
    {EOVERFLOW, "EOVERFLOW"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {ENOBUFS, "ENOBUFS"},
    {ENOTCONN, "ENOTCONN"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {EHOSTDOWN, "EHOSTDOWN"},
    {EALREADY, "EALREADY"},
    {ESTALE, "ESTALE"},
    {EDQUOT, "EDQUOT"},
    {ECANCELED, "ECANCELED"},
    {EKEYREJECTED, "EKEYREJECTED"},
};

// strerror_r has two signatures, by C library.
[[maybe_unused]] const char* Described(int status, const char* buffer) {
  return status == 0 ? buffer : "unknown error";
}
[[maybe_unused]] const char* Described(const char* text, const char*) { return text; }

}  // namespace

std::string ErrorName(int error) {
  for (const NamedError& known : kNamedErrors) {
    if (known.error == error) return known.name;
  }
  return "E" + std::to_string(error);
}

SystemError::SystemError(int error, const char* syscall, std::string path)
    : error_(error), syscall_(syscall), path_(std::move(path)) {
  char buffer[128] = "";
  std::string description = Described(strerror_r(error, buffer, sizeof buffer), buffer);
  if (!description.empty()) description[0] = static_cast<char>(std::tolower(description[0]));
  message_ = ErrorName(error) + ": " + description + ", " + syscall_;
  if (!path_.empty()) message_ += " '" + path_ + "'";
}

bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || error == EMFILE || error == ENFILE;
}

}  // namespace evictd
