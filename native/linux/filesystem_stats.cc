#include "linux/filesystem_stats.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

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
  bool requested = false;  // by Request(), not answered yet
  bool wanted = false;     // of that: the reading has not begun
  bool done = false;
  std::vector<std::shared_ptr<Bell>> asking;  // who waits for a reading that has not begun
  Reading reading;

  bool waiting() const { return wanted || !asking.empty(); }
  void Pend() {
    if (reading.pending) return;
    reading.pending = true;
    reading.pending_since_ns = MonotonicNs();
    changed.notify_one();
  }
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
  if (state_->requested) return false;
  state_->requested = state_->wanted = true;
  state_->Pend();
  return true;
}

void FilesystemStats::Ask(const std::shared_ptr<Bell>& bell) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->asking.push_back(bell);
  state_->Pend();
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
  std::vector<std::shared_ptr<Bell>> asked;
  for (;;) {
    bool requested;
    {
      std::unique_lock<std::mutex> lock(state.mutex);
      state.changed.wait(lock, [&] { return state.closed || state.waiting(); });
      asked.swap(state.asking);
      if (state.closed) break;
      requested = std::exchange(state.wanted, false);
    }
    Reading result;
    Measure(state.path, &result);
    result.at_ns = MonotonicNs();
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      if (state.closed) break;  // a late result is nobody's
      state.reading = result;
      if (requested) state.requested = false;
      if (requested) state.done = true;
      if (state.waiting()) state.Pend();  // asked meanwhile: of what comes next
    }
    if (requested) state.bell->Ring();
    for (const std::shared_ptr<Bell>& bell : asked) bell->Ring();
    asked.clear();
  }
  for (const std::shared_ptr<Bell>& bell : asked) bell->Ring();  // there is no more to come
  return nullptr;
}

}  // namespace evictd
