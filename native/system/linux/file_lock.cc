#include "system/file_lock.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "system/linux/directory_stream.h"
#include "system/linux/thread.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// linux/close_range.h; glibc has both since 2.34.
constexpr long kCloseRange = 436;
constexpr unsigned int kUnshare = 1u << 1;

// Gives this thread an empty table of descriptors. Without it (a seccomp filter forbids both calls) the table stays
// that of the process.
void UnshareDescriptors() {
  if (syscall(kCloseRange, 0u, ~0u, kUnshare) == 0) return;
  // Linux < 5.9
  if (unshare(CLONE_FILES) != 0) return;
  const DirectoryStream entries = OpenDirectoryStream(AT_FDCWD, "/proc/thread-self/fd");
  if (!entries) return;
  const int own = dirfd(entries.get());
  while (const dirent* entry = readdir(entries.get())) {
    char* end = nullptr;
    const long fd = std::strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && fd != own) close(static_cast<int>(fd));
  }
}

// An open file in the table of this thread. System calls by number: the thread sanitizer takes equal numbers in two
// tables for one descriptor.
class OwnFile {
 public:
  // NOFOLLOW: a shared directory may hold a planted symbolic link. CLOEXEC: a child that outlives evictd must not hold
  // the lock.
  explicit OwnFile(const std::string& path)
      : fd_(static_cast<int>(
            syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600))) {
    if (fd_ < 0) throw SystemError(errno, "open", path);
  }
  ~OwnFile() { syscall(SYS_close, fd_); }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  bool Lock() const { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

  bool IsNamed(const std::string& path) const {
    struct stat open = {};
    struct stat named = {};
    return fstat(fd_, &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
  }

 private:
  const int fd_;
};

std::unique_ptr<OwnFile> Lock(const std::string& path) {
  for (;;) {
    auto file = std::make_unique<OwnFile>(path);
    if (!file->Lock()) throw SystemError(errno, "flock", path);
    // A lock of a file that was replaced between the two calls excludes no other process.
    if (file->IsNamed(path)) return file;
  }
}

// The thread that holds a lock. The kernel closes a descriptor when the last thread that shares its table has ended. A
// thread that waits in the kernel (statfs or write on a filesystem that hangs) does not end, not even by SIGKILL. This
// thread shares its table with no other thread and waits only for its condition, so it always ends with the process.
class LockHolder {
 public:
  // Throws SystemError.
  explicit LockHolder(std::string path) : path_(std::move(path)), thread_(StartThread("evictd-lock", &Run, this)) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return answered_; });
    if (!error_) return;
    lock.unlock();
    pthread_join(thread_, nullptr);
    throw SystemError(*error_);
  }
  ~LockHolder() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      released_ = true;
      changed_.notify_all();
    }
    pthread_join(thread_, nullptr);
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

 private:
  static void* Run(void* self) {
    static_cast<LockHolder*>(self)->Hold();
    return nullptr;
  }

  void Hold() {
    UnshareDescriptors();
    std::unique_ptr<OwnFile> file;
    std::optional<SystemError> error;
    try {
      file = Lock(path_);
    } catch (const SystemError& failed) {
      error = failed;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    error_ = std::move(error);
    answered_ = true;
    changed_.notify_all();
    if (file) changed_.wait(lock, [this] { return released_; });
  }

  const std::string path_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::optional<SystemError> error_;
  bool answered_ = false;
  bool released_ = false;
  const pthread_t thread_;  // the last member: the thread uses the others
};

}  // namespace

FileLock::FileLock(const std::string& path) : holder_(std::make_shared<LockHolder>(path)) {}

}  // namespace evictd
