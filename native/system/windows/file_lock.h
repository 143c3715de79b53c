#pragma once

#include <string>

#include "system/windows/unique_handle.h"

namespace evictd {

// LockFileEx, exclusive and immediate, on a file that is created if missing. The system releases it when the process
// ends.
class FileLock {
 public:
  // Throws SystemError: ERROR_LOCK_VIOLATION if the file is locked.
  explicit FileLock(const std::string& path);

 private:
  UniqueHandle file_;
};

}  // namespace evictd
