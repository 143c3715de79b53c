#include "kill/linux/memory_reaper.h"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "kill/linux/process.h"
#include "system/detached_thread.h"

namespace evictd {

namespace {

// Queued processes. Few cgroups have more, and each costs a descriptor.
constexpr size_t kRoom = 64;

}  // namespace

struct MemoryReaper::State {
  std::mutex mutex;  // guards the rest; not held while memory is released
  std::condition_variable changed;
  std::array<UniqueFd, kRoom> waiting;  // a ring buffer: allocates nothing when memory is short
  size_t first = 0;
  size_t size = 0;
  bool closed = false;
  Counts counts;
};

MemoryReaper::MemoryReaper() : state_(std::make_shared<State>()) {
  StartDetachedThread("evictd-reaper", [state = state_] { Run(state.get()); });
}

MemoryReaper::~MemoryReaper() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_one();
}

void MemoryReaper::Take(UniqueFd pidfd) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->size == kRoom) return;
  state_->waiting[(state_->first + state_->size++) % kRoom] = std::move(pidfd);
  state_->changed.notify_one();
}

MemoryReaper::Counts MemoryReaper::counts() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->counts;
}

void MemoryReaper::Run(State* shared) {
  State& state = *shared;
  for (;;) {
    UniqueFd pidfd;
    {
      std::unique_lock<std::mutex> lock(state.mutex);
      state.changed.wait(lock, [&] { return state.closed || state.size > 0; });
      if (state.closed) return;
      pidfd = std::move(state.waiting[state.first]);
      state.first = (state.first + 1) % kRoom;
      state.size--;
    }
    const int error = ReleaseMemory(pidfd.get()) == 0 ? 0 : errno;
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (error == 0) {
      state.counts.released++;
    } else if (error != ESRCH && error != EINVAL) {
      state.counts.error = error;
    }
  }
}

}  // namespace evictd
