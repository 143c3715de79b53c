#include "system/file_lock.h"

#include <windows.h>

#include <utility>

#include "system/system_error.h"
#include "system/windows/unique_handle.h"
#include "system/windows/wide_text.h"

namespace evictd {

FileLock::FileLock(const std::string& path) {
  // OPEN_REPARSE_POINT: a shared directory may hold a planted link. Not inherited: a child that outlives evictd must
  // not hold the lock.
  UniqueHandle file(CreateFileW(ToWide(path).c_str(), GENERIC_READ | GENERIC_WRITE,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_ALWAYS,
                                FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!file) throw SystemError(static_cast<int>(GetLastError()), "CreateFile", path);
  OVERLAPPED at = {};
  if (!LockFileEx(file.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)) {
    throw SystemError(static_cast<int>(GetLastError()), "LockFileEx", path);
  }
  holder_ = std::make_shared<UniqueHandle>(std::move(file));
}

}  // namespace evictd
