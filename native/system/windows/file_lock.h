#pragma once

#include <string>

#include "system/windows/unique_handle.h"

namespace evictd {

// LockFileEx, exclusive and at once, on a file that is made where it is missing. The system releases it with the
// process, however that ends.
class FileLock {
 public:
  // Throws SystemError: ERROR_LOCK_VIOLATION where another holds it.
  explicit FileLock(const std::string& path);

 private:
  UniqueHandle file_;
};

}  // namespace evictd
