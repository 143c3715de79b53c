#include "watch/linux/waiter.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>

#include "system/clock.h"
#include "system/linux/thread.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// epoll's user data: the watch's id and the descriptor's index. Not a pointer: a watch may be removed while its event
// is in a batch.
constexpr unsigned kWhichBits = 8;
constexpr uint64_t kWakeup = 0;

constexpr int kForever = -1;
constexpr int kRetryMs = 10;

}  // namespace

Waiter::Waiter(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {
  epoll_.Reset(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) throw SystemError(errno, "epoll_create1");
  wakeup_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup_) throw SystemError(errno, "eventfd");
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kWakeup;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0) throw SystemError(errno, "epoll_ctl");
  thread_ = StartThread("evictd-waiter", &Run, this);
}

Waiter::~Waiter() {
  stopping_ = true;
  eventfd_write(wakeup_.get(), 1);
  pthread_join(thread_, nullptr);
}

int Waiter::SetRealtime() {
  sched_param lowest = {};
  lowest.sched_priority = 1;
  return pthread_setschedparam(thread_, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

uint64_t Waiter::Add(std::shared_ptr<WatchSource> source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t id = ++last_id_;
  if (source->Follows()) follower_id_ = id;
  const Watches::iterator watch = watches_.emplace(id, std::move(source)).first;
  uint64_t which = 0;
  for (const WatchSource::Descriptor& descriptor : watch->second->Descriptors()) {
    epoll_event event = {};
    event.events = descriptor.interest;
    event.data.u64 = (id << kWhichBits) | which++;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor.fd, &event) != 0) {
      const int error = errno;
      Forget(watch);
      throw SystemError(error, "epoll_ctl");
    }
  }
  return id;
}

void Waiter::Remove(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Watches::iterator watch = watches_.find(id);
  if (watch != watches_.end()) Forget(watch);
}

int Waiter::Exchange(uint64_t id, size_t which, UniqueFd* held, UniqueFd* fresh) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Watches::iterator watch = watches_.find(id);
  if (watch == watches_.end()) return ENOENT;
  epoll_event event = {};
  event.events = watch->second->Descriptors()[which].interest;
  event.data.u64 = (id << kWhichBits) | which;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fresh->get(), &event) != 0) return errno;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, held->get(), nullptr);
  std::swap(*held, *fresh);
  return 0;
}

void Waiter::Post(uint64_t id, Wake wake, unsigned detail) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Watches::iterator watch = watches_.find(id);
  if (watch == watches_.end()) return;
  const std::shared_ptr<WatchSource> source = watch->second;
  if (wake == Wake::kGone) Forget(watch);
  const uint64_t now_ns = MonotonicNs();
  TellFollower(now_ns);
  if (source->wakes().Post(wake, detail, now_ns) && !waker_->Notify()) {
    unnotified_ = true;
    eventfd_write(wakeup_.get(), 1);
  }
}

void Waiter::Forget(Watches::iterator watch) {
  // Explicitly: a descriptor that a fork duplicated would stay in the set after close.
  for (const WatchSource::Descriptor& descriptor : watch->second->Descriptors()) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor.fd, nullptr);
  }
  watches_.erase(watch);
}

void Waiter::TellFollower(uint64_t now_ns) {
  const Watches::iterator follower = watches_.find(follower_id_);
  if (follower != watches_.end()) follower->second->WatchWoke(now_ns);
}

void* Waiter::Run(void* waiter) {
  FaultInMemory();
  static_cast<Waiter*>(waiter)->Loop();
  return nullptr;
}

void Waiter::Loop() {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), unnotified_ ? kRetryMs : kForever);
    if (count < 0 && errno != EINTR) return;
    const uint64_t now_ns = MonotonicNs();
    bool notify = unnotified_.exchange(false);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      bool woke = false;
      for (int i = 0; i < count; i++) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.u64 == kWakeup) {
          if (stopping_) return;
          eventfd_t wakeups = 0;
          eventfd_read(wakeup_.get(), &wakeups);
          continue;
        }
        const Watches::iterator watch = watches_.find(event.data.u64 >> kWhichBits);
        if (watch == watches_.end()) continue;
        const std::shared_ptr<WatchSource> source = watch->second;
        const Wake wake = source->OnEvent(event.data.u64 & ((1u << kWhichBits) - 1), event.events);
        if (wake == Wake::kNothing) continue;
        if (wake == Wake::kGone) Forget(watch);
        if (source->wakes().Post(wake, source->TakeDetail(), now_ns)) notify = true;
        woke = true;
      }
      if (woke) TellFollower(now_ns);
    }
    if (notify && !waker_->Notify()) unnotified_ = true;
  }
}

}  // namespace evictd
