#ifndef EVICTD_WINDOWS_FILE_LOCK_H_
#define EVICTD_WINDOWS_FILE_LOCK_H_

#include <string>

#include "windows/unique_handle.h"

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

#endif  // EVICTD_WINDOWS_FILE_LOCK_H_
