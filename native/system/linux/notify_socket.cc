#include "system/linux/notify_socket.h"

#include <cerrno>
#include <cstddef>

#include "system/system_error.h"

namespace evictd {

NotifySocket::NotifySocket(const std::string& address) {
  if (address.size() < 2 || (address[0] != '/' && address[0] != '@')) throw SystemError(EINVAL, "connect", address);
  // A path ends with its NUL, an abstract name with the length.
  if (address.size() >= sizeof(address_.sun_path)) throw SystemError(ENAMETOOLONG, "connect", address);
  address_.sun_family = AF_UNIX;
  address.copy(address_.sun_path, address.size());
  length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + (address[0] == '@' ? 0 : 1));
  if (address[0] == '@') address_.sun_path[0] = '\0';
  socket_.Reset(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) throw SystemError(errno, "socket", address);
}

int NotifySocket::Notify(const std::string& state) const {
  // Not connected: a manager that re-executes creates its socket anew.
  const auto* const to = reinterpret_cast<const sockaddr*>(&address_);
  return sendto(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL, to, length_) < 0 ? errno : 0;
}

}  // namespace evictd
