#pragma once

#include <memory>
#include <string>

namespace evictd {

// An exclusive lock on a file, which is created if missing: flock on Linux (mode 0600), LockFileEx on Windows. The
// system releases it when the process ends. Each system implements it.
class FileLock {
 public:
  // Throws SystemError: EAGAIN or ERROR_LOCK_VIOLATION if the file is locked.
  explicit FileLock(const std::string& path);

 private:
  std::shared_ptr<void> holder_;  // the system's owner of the open file
};

}  // namespace evictd
