#include "system/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "system/linux/unique_fd.h"
#include "system/system_error.h"

namespace evictd {

FileLock::FileLock(const std::string& path) {
  // NOFOLLOW: a shared directory may hold a planted symbolic link. CLOEXEC: a child that outlives evictd must not hold
  // the lock.
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw SystemError(errno, "open", path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) throw SystemError(errno, "flock", path);
  file_ = std::make_shared<UniqueFd>(std::move(file));
}

}  // namespace evictd
