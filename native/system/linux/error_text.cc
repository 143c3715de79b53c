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

#define EVICTD_NAMED(error) \
  { error, #error }

// What open, read, write, flock, statfs, pidfd_*, epoll_* and pthread_create return.
constexpr NamedError kNamedErrors[] = {
    EVICTD_NAMED(EPERM),       EVICTD_NAMED(ENOENT),   EVICTD_NAMED(ESRCH),     EVICTD_NAMED(EINTR),
    EVICTD_NAMED(EIO),         EVICTD_NAMED(ENXIO),    EVICTD_NAMED(E2BIG),     EVICTD_NAMED(EBADF),
    EVICTD_NAMED(ECHILD),      EVICTD_NAMED(EAGAIN),   EVICTD_NAMED(ENOMEM),    EVICTD_NAMED(EACCES),
    EVICTD_NAMED(EFAULT),      EVICTD_NAMED(EBUSY),    EVICTD_NAMED(EEXIST),    EVICTD_NAMED(EXDEV),
    EVICTD_NAMED(ENODEV),      EVICTD_NAMED(ENOTDIR),  EVICTD_NAMED(EISDIR),    EVICTD_NAMED(EINVAL),
    EVICTD_NAMED(ENFILE),      EVICTD_NAMED(EMFILE),   EVICTD_NAMED(ENOTTY),    EVICTD_NAMED(ETXTBSY),
    EVICTD_NAMED(EFBIG),       EVICTD_NAMED(ENOSPC),   EVICTD_NAMED(ESPIPE),    EVICTD_NAMED(EROFS),
    EVICTD_NAMED(EPIPE),       EVICTD_NAMED(ERANGE),   EVICTD_NAMED(EDEADLK),   EVICTD_NAMED(ENAMETOOLONG),
    EVICTD_NAMED(ENOLCK),      EVICTD_NAMED(ENOSYS),   EVICTD_NAMED(ENOTEMPTY), EVICTD_NAMED(ELOOP),
    EVICTD_NAMED(ENODATA),     EVICTD_NAMED(EBADMSG),  EVICTD_NAMED(EOVERFLOW), EVICTD_NAMED(EOPNOTSUPP),
    EVICTD_NAMED(ENOBUFS),     EVICTD_NAMED(ENOTCONN), EVICTD_NAMED(ETIMEDOUT), EVICTD_NAMED(EHOSTDOWN),
    EVICTD_NAMED(EALREADY),    EVICTD_NAMED(ESTALE),   EVICTD_NAMED(EDQUOT),    EVICTD_NAMED(ECANCELED),
    EVICTD_NAMED(EKEYREJECTED)};

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
