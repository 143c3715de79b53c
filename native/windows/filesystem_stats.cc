#include "windows/filesystem_stats.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "common/monotonic_clock.h"
#include "windows/thread.h"
#include "windows/wide_text.h"

namespace evictd {

struct FilesystemStats::Owner {
  Reading reading;
  bool requested = false;
  bool done = false;
  // Of what was asked for: the reading has not begun; it is under way.
  bool wanted = false;
  bool being_read = false;
};

struct FilesystemStats::State {
  State(const std::string& watched, std::shared_ptr<Bell> rung) : path(ToWide(watched)), bell(std::move(rung)) {}

  const std::wstring path;
  const std::shared_ptr<Bell> bell;
  std::mutex mutex;  // guards what follows, the owners too; never held while the volume is asked
  std::condition_variable changed;
  std::vector<Owner*> owners;
  bool pending = false;
  uint64_t pending_since_ns = 0;
  bool ended = false;  // the thread takes no more requests

  bool waiting() const {
    return std::any_of(owners.begin(), owners.end(), [](const Owner* owner) { return owner->wanted; });
  }
  void Pend() {
    if (pending) return;
    pending = true;
    pending_since_ns = MonotonicNs();
    changed.notify_one();
  }
  // Takes over who waits for a reading that is about to begin.
  void Begin() {
    for (Owner* owner : owners) owner->being_read = std::exchange(owner->wanted, false);
  }
  // True: a request was answered.
  bool End(const Reading& result) {
    bool answered = false;
    for (Owner* owner : owners) {
      owner->reading = result;
      if (!std::exchange(owner->being_read, false)) continue;
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

// Blocks for as long as the volume likes.
void Measure(const std::wstring& path, FilesystemStats::Reading* result) {
  ULARGE_INTEGER available = {};
  ULARGE_INTEGER total = {};
  ULARGE_INTEGER free = {};
  if (!GetDiskFreeSpaceExW(path.c_str(), &available, &total, &free)) {
    result->error = static_cast<int>(GetLastError());
    return;
  }
  result->total_bytes = total.QuadPart;
  result->free_bytes = free.QuadPart;
  result->available_bytes = available.QuadPart;
}

}  // namespace

FilesystemStats::FilesystemStats(const std::string& path, FilesystemThreads* threads)
    : owner_(std::make_unique<Owner>()), state_(threads->Join(path, owner_.get())) {}

FilesystemStats::~FilesystemStats() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<Owner*>& owners = state_->owners;
  owners.erase(std::find(owners.begin(), owners.end(), owner_.get()));
  state_->changed.notify_one();
}

bool FilesystemStats::Request() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (owner_->requested) return false;
  owner_->requested = owner_->wanted = true;
  state_->Pend();
  return true;
}

FilesystemStats::Reading FilesystemStats::Read() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  Reading reading = owner_->reading;
  reading.pending = owner_->requested;
  reading.pending_since_ns = reading.pending ? state_->pending_since_ns : 0;
  return reading;
}

bool FilesystemStats::TakeDone() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(owner_->done, false);
}

DWORD WINAPI FilesystemStats::Run(void* shared) {
  const std::unique_ptr<std::shared_ptr<State>> owned(static_cast<std::shared_ptr<State>*>(shared));
  // A drive without a medium is an answer, and no window for whoever is logged in.
  SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, nullptr);
  State& state = **owned;
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.owners.empty() || state.waiting(); });
    if (state.owners.empty()) break;
    state.Begin();
    lock.unlock();
    Reading result;
    Measure(state.path, &result);
    result.at_ns = MonotonicNs();
    lock.lock();
    const bool answered = state.End(result);
    // A ring that fails is repeated: nobody else would.
    while (answered && !state.owners.empty() && !state.bell->Ring()) state.changed.wait_for(lock, kRingAgain);
  }
  state.ended = true;
  return 0;
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
  StartThread(&FilesystemStats::Run, shared.get());  // its handle is closed at once: nobody waits for it
  static_cast<void>(shared.release());               // the thread's now
  states_[path] = state;
  return state;
}

}  // namespace evictd
