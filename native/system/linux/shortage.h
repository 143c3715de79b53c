#pragma once

#include <cerrno>

namespace evictd {

// Whether this process was short of something (descriptors, memory): it says nothing about what was tried, and passes.
inline bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || error == EMFILE || error == ENFILE;
}

}  // namespace evictd
