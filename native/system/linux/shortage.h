#pragma once

#include <cerrno>

namespace evictd {

// A shortage of this process's own (descriptors, memory): temporary, and no statement about the object of the call.
inline bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || error == EMFILE || error == ENFILE;
}

}  // namespace evictd
