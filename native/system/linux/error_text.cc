#include "system/error_text.h"

#include <cctype>
#include <cerrno>
#include <cstring>

namespace evictd {

namespace {

struct NamedError {
  int error;
  const char* name;
};

// What open, read, write, flock, statfs, pidfd_*, epoll_* and pthread_create return.
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

// glibc's strerrorname_np would need glibc 2.32.
std::string ErrorName(int error) {
  for (const NamedError& known : kNamedErrors) {
    if (known.error == error) return known.name;
  }
  return "E" + std::to_string(error);
}

std::string ErrorText(int error) {
  char buffer[128] = "";
  std::string text = Described(strerror_r(error, buffer, sizeof buffer), buffer);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

int OutOfMemory() { return ENOMEM; }

}  // namespace evictd
