#include "linux/filesystem_stats.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "common/monotonic_clock.h"
#include "linux/thread.h"
#include "linux/unique_fd.h"

namespace evictd {

struct FilesystemStats::State {
  State(std::string watched, std::shared_ptr<Bell> rung) : path(std::move(watched)), bell(std::move(rung)) {}

  const std::string path;
  const std::shared_ptr<Bell> bell;
  std::mutex mutex;  // guards what follows; never held across a system call on the filesystem
  std::condition_variable changed;
  bool closed = false;
  bool done = false;
  Reading reading;
};

namespace {

// Blocks for as long as the filesystem likes.
void Measure(const std::string& path, FilesystemStats::Reading* result) {
  // One descriptor for both calls: the mount may change in between. O_PATH needs no permission on the directory itself.
  const UniqueFd directory(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct statfs filesystem = {};
  struct stat status = {};
  if (!directory || fstatfs(directory.get(), &filesystem) != 0 || fstat(directory.get(), &status) != 0) {
    result->error = errno;
    return;
  }
  const uint64_t block = static_cast<uint64_t>(filesystem.f_frsize != 0 ? filesystem.f_frsize : filesystem.f_bsize);
  result->total_bytes = filesystem.f_blocks * block;
  result->free_bytes = filesystem.f_bfree * block;
  result->available_bytes = filesystem.f_bavail * block;
  result->inodes = filesystem.f_files;
  result->inodes_free = filesystem.f_ffree;
  result->type = static_cast<uint32_t>(filesystem.f_type);
  result->device = status.st_dev;
}

}  // namespace

FilesystemStats::FilesystemStats(std::string path, std::shared_ptr<Bell> bell)
    : state_(std::make_shared<State>(std::move(path), std::move(bell))) {
  auto shared = std::make_unique<std::shared_ptr<State>>(state_);
  const pthread_t thread = StartThread("evictd-statfs", &Run, shared.get());
  shared.release();  // the thread's now
  pthread_detach(thread);
}

FilesystemStats::~FilesystemStats() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_one();
}

bool FilesystemStats::Request() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->reading.pending) return false;
  state_->reading.pending = true;
  state_->reading.pending_since_ns = MonotonicNs();
  state_->changed.notify_one();
  return true;
}

FilesystemStats::Reading FilesystemStats::Read() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->reading;
}

bool FilesystemStats::TakeDone() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(state_->done, false);
}

void* FilesystemStats::Run(void* shared) {
  const std::unique_ptr<std::shared_ptr<State>> owned(static_cast<std::shared_ptr<State>*>(shared));
  State& state = **owned;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(state.mutex);
      state.changed.wait(lock, [&] { return state.closed || state.reading.pending; });
      if (state.closed) return nullptr;
    }
    Reading result;
    Measure(state.path, &result);
    result.at_ns = MonotonicNs();
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      if (state.closed) return nullptr;  // a late result is nobody's
      state.reading = result;
      state.done = true;
    }
    state.bell->Ring();
  }
}

}  // namespace evictd
