#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "system/linux/unique_fd.h"

namespace evictd {

// The service manager's socket (sd_notify(3)).
class NotifySocket {
 public:
  // `address`: $NOTIFY_SOCKET, a path or '@' and an abstract name. Throws SystemError: EINVAL if neither, ENAMETOOLONG.
  explicit NotifySocket(const std::string& address);

  // Sends NAME=VALUE lines as one datagram without waiting. Returns 0 or errno: EAGAIN if the manager is too slow.
  int Notify(const std::string& state) const;

 private:
  UniqueFd socket_;
  sockaddr_un address_ = {};
  socklen_t length_ = 0;
};

}  // namespace evictd
