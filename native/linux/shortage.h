#ifndef EVICTD_LINUX_SHORTAGE_H_
#define EVICTD_LINUX_SHORTAGE_H_

#include <cerrno>

namespace evictd {

// Whether this process was short of something (descriptors, memory): it says nothing about what was tried, and passes.
inline bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || error == EMFILE || error == ENFILE;
}

}  // namespace evictd

#endif  // EVICTD_LINUX_SHORTAGE_H_
