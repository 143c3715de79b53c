#pragma once

#include <string>

#include "system/linux/unique_fd.h"

namespace evictd {

// flock(LOCK_EX | LOCK_NB) on a file, created with mode 0600. The kernel releases it when the process ends.
class FileLock {
 public:
  // Throws SystemError: EAGAIN if the file is locked.
  explicit FileLock(const std::string& path);

 private:
  UniqueFd file_;
};

}  // namespace evictd
