#include "watch/windows/wait_thread.h"

#include <utility>

#include "system/clock.h"
#include "system/system_error.h"
#include "system/windows/thread.h"

namespace evictd {

namespace {

constexpr DWORD kRetryMs = 10;
constexpr uint64_t kCheckNs = uint64_t{WaitThread::kCheckMs} * 1000000;

constexpr bool Has(Wake wake, Wake bit) { return (static_cast<unsigned>(wake) & static_cast<unsigned>(bit)) != 0; }

}  // namespace

WaitThread::WaitThread(std::shared_ptr<Waker> waker)
    : waker_(std::move(waker)), wakeup_(CreateEventW(nullptr, FALSE, FALSE, nullptr)) {
  if (!wakeup_) throw SystemError(static_cast<int>(GetLastError()), "CreateEvent");
  // Now: later there may be no memory.
  handles_.reserve(kMaximum + 1);
  ids_.reserve(kMaximum);
  held_.reserve(kMaximum);
  thread_ = StartThread(&Run, this);
}

WaitThread::~WaitThread() {
  stopping_ = true;
  SetEvent(wakeup_.get());
  WaitForSingleObject(thread_.get(), INFINITE);
}

bool WaitThread::Add(uint64_t id, std::shared_ptr<WatchSource> source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (watches_.size() >= kMaximum) return false;
  watches_.emplace(id, Watch{std::move(source), false});
  SetEvent(wakeup_.get());
  return true;
}

void WaitThread::Remove(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (watches_.erase(id) != 0) SetEvent(wakeup_.get());
}

DWORD WINAPI WaitThread::Run(void* thread) {
  static_cast<WaitThread*>(thread)->Loop();
  return 0;
}

void WaitThread::Loop() {
  while (!stopping_) {
    const DWORD result = Wait();
    // Waiting for several handles may fail for want of memory, waiting for one needs none.
    if (result == WAIT_FAILED) WaitForSingleObject(wakeup_.get(), kRetryMs);
    if (std::exchange(unnotified_, false)) unnotified_ = !waker_->Notify();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (result == WAIT_FAILED) {
      CheckEach();
    } else if (result > WAIT_OBJECT_0 && result < WAIT_OBJECT_0 + handles_.size()) {
      Handle(ids_[result - WAIT_OBJECT_0 - 1]);
    }
    if (any_fired_ && MonotonicNs() >= check_ns_) CheckFired();
  }
}

DWORD WaitThread::Wait() {
  handles_.clear();
  ids_.clear();
  held_.clear();
  any_fired_ = false;
  handles_.push_back(wakeup_.get());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, watch] : watches_) {
      if (watch.fired) {
        any_fired_ = true;
        continue;
      }
      handles_.push_back(watch.source->handle());
      ids_.push_back(id);
      held_.push_back(watch.source);
    }
  }
  const DWORD wait_ms = unnotified_ ? kRetryMs : any_fired_ ? kCheckMs : INFINITE;
  return WaitForMultipleObjects(static_cast<DWORD>(handles_.size()), handles_.data(), FALSE, wait_ms);
}

// A handle that stays signalled would be returned at once for ever, so the thread does not wait for it until it is
// clear.
void WaitThread::CheckFired() {
  for (auto& [id, watch] : watches_) {
    if (watch.fired) watch.fired = WaitForSingleObject(watch.source->handle(), 0) == WAIT_OBJECT_0;
  }
  check_ns_ = MonotonicNs() + kCheckNs;
}

void WaitThread::Handle(uint64_t id) {
  const auto watch = watches_.find(id);
  if (watch == watches_.end()) return;  // removed during the wait
  const Wake wake = watch->second.source->OnSignalled();
  watch->second.fired = true;
  if (!any_fired_) check_ns_ = MonotonicNs() + kCheckNs;
  Post(id, wake);
}

// Called after a failed wait: checks each handle, also for handles that are invalid.
void WaitThread::CheckEach() {
  for (const uint64_t id : ids_) {
    const auto watch = watches_.find(id);
    if (watch == watches_.end()) continue;
    const DWORD result = WaitForSingleObject(watch->second.source->handle(), 0);
    const int error = static_cast<int>(GetLastError());
    if (result == WAIT_OBJECT_0) Handle(id);
    if (result == WAIT_FAILED) Post(id, watch->second.source->Lost(error));
  }
}

void WaitThread::Post(uint64_t id, Wake wake) {
  if (wake == Wake::kNothing) return;
  const auto watch = watches_.find(id);
  const std::shared_ptr<WatchSource> source = watch->second.source;
  if (Has(wake, Wake::kGone)) watches_.erase(watch);
  if (source->wakes().Post(wake, 0, MonotonicNs()) && !waker_->Notify()) unnotified_ = true;
}

}  // namespace evictd
