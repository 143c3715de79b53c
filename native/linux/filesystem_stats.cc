#include "linux/filesystem_stats.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "common/monotonic_clock.h"
#include "linux/thread.h"
#include "linux/unique_fd.h"

namespace evictd {

struct FilesystemStats::Owner {
  Reading reading;
  bool requested = false;
  bool done = false;
  // Of what was asked for: the reading has not begun.
  bool wanted = false;
  std::vector<std::shared_ptr<Bell>> asking;
  // The reading is under way.
  bool reading_for_request = false;
  std::vector<std::shared_ptr<Bell>> reading_for_bells;

  bool waiting() const { return wanted || !asking.empty(); }
  bool pending() const { return requested || !asking.empty() || !reading_for_bells.empty(); }
};

struct FilesystemStats::State {
  State(std::string watched, std::shared_ptr<Bell> rung) : path(std::move(watched)), bell(std::move(rung)) {}

  const std::string path;
  const std::shared_ptr<Bell> bell;
  std::mutex mutex;  // guards what follows, the owners too; never held across a system call on the filesystem
  std::condition_variable changed;
  std::vector<Owner*> owners;
  bool pending = false;
  uint64_t pending_since_ns = 0;
  bool ended = false;  // the thread takes no more requests

  bool waiting() const {
    return std::any_of(owners.begin(), owners.end(), [](const Owner* owner) { return owner->waiting(); });
  }
  void Pend() {
    if (pending) return;
    pending = true;
    pending_since_ns = MonotonicNs();
    changed.notify_one();
  }
  // Takes over who waits for a reading that is about to begin.
  void Begin(std::vector<std::shared_ptr<Bell>>* bells) {
    for (Owner* owner : owners) {
      owner->reading_for_request = std::exchange(owner->wanted, false);
      owner->reading_for_bells.swap(owner->asking);  // empty between two readings; both keep their memory
      bells->insert(bells->end(), owner->reading_for_bells.begin(), owner->reading_for_bells.end());
    }
  }
  // True: a request was answered.
  bool End(const Reading& result) {
    bool answered = false;
    for (Owner* owner : owners) {
      owner->reading = result;
      owner->reading_for_bells.clear();
      if (!std::exchange(owner->reading_for_request, false)) continue;
      owner->requested = false;
      owner->done = answered = true;
    }
    pending = false;
    if (waiting()) Pend();  // asked meanwhile: of what comes next
    return answered;
  }
};

namespace {

constexpr std::chrono::milliseconds kRingAgain(10);

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

FilesystemStats::FilesystemStats(const std::string& path, FilesystemThreads* threads)
    : owner_(std::make_unique<Owner>()), state_(threads->Join(path, owner_.get())) {}

FilesystemStats::~FilesystemStats() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    std::vector<Owner*>& owners = state_->owners;
    owners.erase(std::find(owners.begin(), owners.end(), owner_.get()));
    state_->changed.notify_one();
  }
  // There is no more to come, of a reading that hangs neither.
  for (const std::shared_ptr<Bell>& bell : owner_->asking) bell->Ring();
  for (const std::shared_ptr<Bell>& bell : owner_->reading_for_bells) bell->Ring();
}

bool FilesystemStats::Request() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (owner_->requested) return false;
  owner_->requested = owner_->wanted = true;
  state_->Pend();
  return true;
}

void FilesystemStats::Ask(const std::shared_ptr<Bell>& bell) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  owner_->asking.push_back(bell);
  state_->Pend();
}

FilesystemStats::Reading FilesystemStats::Read() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  Reading reading = owner_->reading;
  reading.pending = owner_->pending();
  reading.pending_since_ns = reading.pending ? state_->pending_since_ns : 0;
  return reading;
}

bool FilesystemStats::TakeDone() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(owner_->done, false);
}

void* FilesystemStats::Run(void* shared) {
  const std::unique_ptr<std::shared_ptr<State>> owned(static_cast<std::shared_ptr<State>*>(shared));
  State& state = **owned;
  std::vector<std::shared_ptr<Bell>> bells;
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.owners.empty() || state.waiting(); });
    if (state.owners.empty()) break;
    state.Begin(&bells);
    lock.unlock();
    Reading result;
    Measure(state.path, &result);
    result.at_ns = MonotonicNs();
    lock.lock();
    const bool answered = state.End(result);
    for (const std::shared_ptr<Bell>& bell : bells) bell->Ring();
    bells.clear();
    // A ring that fails is repeated: nobody else would.
    while (answered && !state.owners.empty() && !state.bell->Ring()) state.changed.wait_for(lock, kRingAgain);
  }
  state.ended = true;
  return nullptr;
}

std::shared_ptr<FilesystemStats::State> FilesystemThreads::Join(const std::string& path,
                                                                FilesystemStats::Owner* owner) {
  for (auto next = states_.begin(); next != states_.end();) {
    next = next->second.expired() ? states_.erase(next) : std::next(next);
  }
  if (const auto running = states_.find(path); running != states_.end()) {
    if (std::shared_ptr<FilesystemStats::State> state = running->second.lock()) {
      const std::lock_guard<std::mutex> lock(state->mutex);
      if (!state->ended) {
        state->owners.push_back(owner);
        return state;
      }
    }
  }
  auto state = std::make_shared<FilesystemStats::State>(path, bell_);
  state->owners.push_back(owner);
  auto shared = std::make_unique<std::shared_ptr<FilesystemStats::State>>(state);
  const pthread_t thread = StartThread("evictd-statfs", &FilesystemStats::Run, shared.get());
  static_cast<void>(shared.release());  // the thread's now
  pthread_detach(thread);
  states_[path] = state;
  return state;
}

}  // namespace evictd
