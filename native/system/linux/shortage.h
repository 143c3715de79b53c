#pragma once

#include <cerrno>

namespace evictd {

inline bool IsOutOfDescriptors(int error) { return error == EMFILE || error == ENFILE; }

// A shortage of this process's own (descriptors, memory): temporary, and no statement about the object of the call.
inline bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || IsOutOfDescriptors(error);
}

}  // namespace evictd
