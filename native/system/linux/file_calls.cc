#include "system/linux/file_calls.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#include <cerrno>

#include "system/system_error.h"

namespace evictd {

void Preallocate(int fd, int64_t offset, int64_t length) {
  while (fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, length) != 0) {
    if (errno != EINTR) throw SystemError(errno, "fallocate");
  }
}

bool ReadAttribute(const std::string& path, const std::string& name, std::vector<char>* value) {
  for (;;) {
    ssize_t length = getxattr(path.c_str(), name.c_str(), nullptr, 0);
    if (length > 0) {
      value->resize(static_cast<size_t>(length));
      length = getxattr(path.c_str(), name.c_str(), value->data(), value->size());
    }
    if (length >= 0) {
      value->resize(static_cast<size_t>(length));
      return true;
    }
    if (errno == ENODATA || errno == ENOTSUP) return false;
    if (errno != ERANGE) throw SystemError(errno, "getxattr", path);  // ERANGE: it has grown
  }
}

void WriteAttribute(const std::string& path, const std::string& name, const std::string& value) {
  if (setxattr(path.c_str(), name.c_str(), value.data(), value.size(), 0) != 0)
    throw SystemError(errno, "setxattr", path);
}

Peer PeerOf(int fd) {
  struct ucred credentials;
  socklen_t length = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) throw SystemError(errno, "getsockopt");
  return {credentials.pid, credentials.uid, credentials.gid};
}

}  // namespace evictd
