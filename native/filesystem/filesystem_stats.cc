#include "filesystem/filesystem_stats.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "system/detached_thread.h"
#include "system/monotonic_clock.h"

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
  State(const std::string& path, std::shared_ptr<Bell> rung) : call(FilesystemCall(path)), bell(std::move(rung)) {}

  const std::function<FilesystemAnswer()> call;
  const std::shared_ptr<Bell> bell;
  std::mutex mutex;  // guards what follows, the owners too; never held across the call
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

void FilesystemStats::Run(State* shared) {
  State& state = *shared;
  std::vector<std::shared_ptr<Bell>> bells;
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.owners.empty() || state.waiting(); });
    if (state.owners.empty()) break;
    state.Begin(&bells);
    lock.unlock();
    const Reading result{state.call(), MonotonicNs()};
    lock.lock();
    const bool answered = state.End(result);
    for (const std::shared_ptr<Bell>& bell : bells) bell->Ring();
    bells.clear();
    // A ring that fails is repeated: nobody else would.
    while (answered && !state.owners.empty() && !state.bell->Ring()) state.changed.wait_for(lock, kRingAgain);
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
  auto state = std::make_shared<FilesystemStats::State>(path, bell_);
  state->owners.push_back(owner);
  StartDetachedThread("evictd-statfs", [state] { FilesystemStats::Run(state.get()); });
  states_[path] = state;
  return state;
}

}  // namespace evictd
