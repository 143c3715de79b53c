#include "filesystem/filesystem_stats.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <mutex>
#include <vector>

#include "system/clock.h"
#include "system/detached_thread.h"

namespace evictd {

struct FilesystemStats::Owner {
  Reading reading;
  bool requested = false;
  bool done = false;
  bool wanted = false;
  std::vector<std::shared_ptr<Waker>> requesting;
  bool reading_for_request = false;
  std::vector<std::shared_ptr<Waker>> reading_for_wakers;

  bool waiting() const { return wanted || !requesting.empty(); }
  bool pending() const { return requested || !requesting.empty() || !reading_for_wakers.empty(); }
};

struct FilesystemStats::State {
  State(const std::string& path, std::shared_ptr<Waker> to_notify)
      : call(FilesystemCall(path)), waker(std::move(to_notify)) {}

  const std::function<FilesystemAnswer()> call;
  const std::shared_ptr<Waker> waker;
  std::mutex mutex;  // guards the rest and the owners; never held during the call
  std::condition_variable changed;
  std::vector<Owner*> owners;
  bool pending = false;
  uint64_t pending_since_ns = 0;
  bool ended = false;  // the thread takes no further requests

  bool waiting() const {
    return std::any_of(owners.begin(), owners.end(), [](const Owner* owner) { return owner->waiting(); });
  }
  void Pend() {
    if (pending) return;
    pending = true;
    pending_since_ns = MonotonicNs();
    changed.notify_one();
  }
  // Assigns all open requests to the reading that begins now.
  void Begin(std::vector<std::shared_ptr<Waker>>* wakers) {
    for (Owner* owner : owners) {
      owner->reading_for_request = std::exchange(owner->wanted, false);
      owner->reading_for_wakers.swap(owner->requesting);  // the target is empty here; both keep their memory
      wakers->insert(wakers->end(), owner->reading_for_wakers.begin(), owner->reading_for_wakers.end());
    }
  }
  // Returns true if it answered a request.
  bool End(const Reading& result) {
    bool answered = false;
    for (Owner* owner : owners) {
      owner->reading = result;
      owner->reading_for_wakers.clear();
      if (!std::exchange(owner->reading_for_request, false)) continue;
      owner->requested = false;
      owner->done = answered = true;
    }
    pending = false;
    if (waiting()) Pend();  // requests made during the reading
    return answered;
  }
};

namespace {

constexpr std::chrono::milliseconds kRetry(10);

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
  // No further answer comes, not even from a reading that hangs.
  for (const std::shared_ptr<Waker>& waker : owner_->requesting) waker->Notify();
  for (const std::shared_ptr<Waker>& waker : owner_->reading_for_wakers) waker->Notify();
}

bool FilesystemStats::Request() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (owner_->requested) return false;
  owner_->requested = owner_->wanted = true;
  state_->Pend();
  return true;
}

void FilesystemStats::RequestSample(const std::shared_ptr<Waker>& waker) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  owner_->requesting.push_back(waker);
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

void FilesystemStats::Run(State* shared) {
  State& state = *shared;
  std::vector<std::shared_ptr<Waker>> wakers;
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.owners.empty() || state.waiting(); });
    if (state.owners.empty()) break;
    state.Begin(&wakers);
    lock.unlock();
    const Reading result{state.call(), MonotonicNs()};
    lock.lock();
    const bool answered = state.End(result);
    for (const std::shared_ptr<Waker>& waker : wakers) waker->Notify();
    wakers.clear();
    // A failed notification is repeated: no other thread would send it.
    while (answered && !state.owners.empty() && !state.waker->Notify()) state.changed.wait_for(lock, kRetry);
  }
  state.ended = true;
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
  auto state = std::make_shared<FilesystemStats::State>(path, waker_);
  state->owners.push_back(owner);
  StartDetachedThread("evictd-statfs", [state] { FilesystemStats::Run(state.get()); });
  states_[path] = state;
  return state;
}

}  // namespace evictd
