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

#define NAMED(error) \
  { error, #error }

// What open, read, write, flock, statfs, pidfd_*, epoll_* and pthread_create return.
constexpr NamedError kNamedErrors[] = {
    NAMED(EPERM),       NAMED(ENOENT),       NAMED(ESRCH),     NAMED(EINTR),      NAMED(EIO),       NAMED(ENXIO),
    NAMED(E2BIG),       NAMED(EBADF),        NAMED(ECHILD),    NAMED(EAGAIN),     NAMED(ENOMEM),    NAMED(EACCES),
    NAMED(EFAULT),      NAMED(EBUSY),        NAMED(EEXIST),    NAMED(EXDEV),      NAMED(ENODEV),    NAMED(ENOTDIR),
    NAMED(EISDIR),      NAMED(EINVAL),       NAMED(ENFILE),    NAMED(EMFILE),     NAMED(ENOTTY),    NAMED(ETXTBSY),
    NAMED(EFBIG),       NAMED(ENOSPC),       NAMED(ESPIPE),    NAMED(EROFS),      NAMED(EPIPE),     NAMED(ERANGE),
    NAMED(EDEADLK),     NAMED(ENAMETOOLONG), NAMED(ENOLCK),    NAMED(ENOSYS),     NAMED(ENOTEMPTY), NAMED(ELOOP),
    NAMED(ENODATA),     NAMED(EBADMSG),      NAMED(EOVERFLOW), NAMED(EOPNOTSUPP), NAMED(ENOBUFS),   NAMED(ENOTCONN),
    NAMED(ETIMEDOUT),   NAMED(EHOSTDOWN),    NAMED(EALREADY),  NAMED(ESTALE),     NAMED(EDQUOT),    NAMED(ECANCELED),
    NAMED(EKEYREJECTED)};

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
