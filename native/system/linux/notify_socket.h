#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "system/linux/unique_fd.h"

namespace evictd {

// The service manager's socket, as sd_notify(3) uses it.
class NotifySocket {
 public:
  // `address`: that of $NOTIFY_SOCKET, a path or '@' and an abstract name. Throws SystemError: EINVAL where it is
  // neither, ENAMETOOLONG.
  explicit NotifySocket(const std::string& address);

  // Sends lines of NAME=VALUE as one datagram. Never waits. 0, or an errno: EAGAIN where the manager has fallen behind.
  int Notify(const std::string& state) const;

 private:
  UniqueFd socket_;
  sockaddr_un address_ = {};
  socklen_t length_ = 0;
};

}  // namespace evictd
