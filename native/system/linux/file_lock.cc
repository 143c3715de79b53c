#include "system/linux/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "system/system_error.h"

namespace evictd {

FileLock::FileLock(const std::string& path) {
  // NOFOLLOW: a shared directory may hold a planted symbolic link. CLOEXEC: a child that outlives evictd must not hold
  // the lock.
  file_.Reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) throw SystemError(errno, "open", path);
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) throw SystemError(errno, "flock", path);
}

}  // namespace evictd
