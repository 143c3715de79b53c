#include "watch/linux/waiter.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>

#include "check.h"
#include "waker.h"

namespace evictd::test {

namespace {

// Two eventfds; records which fired last, and fails the test if it is called after its removal.
class EventSource : public WatchSource {
 public:
  std::vector<Descriptor> Descriptors() const override { return {{first.get(), EPOLLIN}, {second.get(), EPOLLIN}}; }

  Wake OnEvent(size_t which, uint32_t) override {
    if (removed) Fail(__FILE__, __LINE__, "called after Remove");
    eventfd_t count = 0;
    eventfd_read(which == 0 ? first.get() : second.get(), &count);
    events++;
    if (count == kLast) return Gone(EIO);
    Detail(which == 0 ? 1 : 2);
    return Wake::kFired;
  }

  void Write(eventfd_t count = 1) const { eventfd_write(first.get(), count); }

  static constexpr eventfd_t kLast = 1000000;
  UniqueFd first{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  UniqueFd second{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<int> events{0};
  std::atomic<bool> removed{false};
};

}  // namespace

TEST("an event wakes its watch, with the details of that event") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  CHECK(waiter.Add(source) != 0);
  eventfd_write(source->second.get(), 1);
  EVENTUALLY(waker->notifications == 1);
  const WakeMask::Pending pending = source->wakes().Take();
  CHECK_EQUAL(pending.bits, 1u);
  CHECK_EQUAL(pending.detail, 2u);
  CHECK(pending.at_ns > 0);
}

TEST("a storm of events without a Take notifies once") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  waiter.Add(source);
  for (int storm = 1; storm <= 200; storm++) {
    source->Write();
    EVENTUALLY(source->events >= storm);
  }
  CHECK_EQUAL(waker->notifications.load(), 1);
}

TEST("a watch that is gone leaves the set, says why, and is not called again") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  waiter.Add(source);
  source->Write(EventSource::kLast);
  EVENTUALLY(waker->notifications == 1);
  source->removed = true;
  CHECK_EQUAL(source->error(), EIO);
  CHECK_EQUAL(source->wakes().Take().bits, 2u);
  const auto other = std::make_shared<EventSource>();
  waiter.Add(other);
  source->Write();
  other->Write();
  EVENTUALLY(other->events == 1);
  EVENTUALLY(source.use_count() == 1);
}

TEST("a posted wake reaches the watch, and has no effect after Remove") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  const uint64_t id = waiter.Add(source);
  waiter.Post(id, Wake::kFired, 4);
  CHECK_EQUAL(waker->notifications.load(), 1);
  CHECK_EQUAL(source->wakes().Take().detail, 4u);
  waiter.Post(id, Wake::kGone, 0);
  CHECK_EQUAL(source->wakes().Take().bits, 2u);
  waiter.Post(id, Wake::kFired, 0);
  waiter.Post(id + 1, Wake::kFired, 0);
  waiter.Remove(id);
  CHECK_EQUAL(source->wakes().Take().bits, 0u);
  CHECK_EQUAL(source.use_count(), 1);
}

TEST("a failed notification is repeated until it succeeds") {
  const auto waker = std::make_shared<CountingWaker>();
  waker->answered = false;
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  waiter.Add(source);
  source->Write();
  EVENTUALLY(waker->notifications >= 3);
  waker->answered = true;
  const int notifications = waker->notifications;
  EVENTUALLY(waker->notifications > notifications);
}

TEST("a failed notification of a posted wake is repeated too") {
  const auto waker = std::make_shared<CountingWaker>();
  waker->answered = false;
  Waiter waiter(waker);
  const uint64_t id = waiter.Add(std::make_shared<EventSource>());
  waiter.Post(id, Wake::kFired, 0);
  EVENTUALLY(waker->notifications >= 3);
  waker->answered = true;
  const int notifications = waker->notifications;
  EVENTUALLY(waker->notifications > notifications);
}

TEST("a descriptor that cannot be watched: the watch is not added, with none of its descriptors") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  source->second.Reset();
  CHECK_EQUAL(ErrorOf([&] { waiter.Add(source); }), EBADF);
  CHECK_EQUAL(source.use_count(), 1);
  source->removed = true;
  source->Write();
  const auto other = std::make_shared<EventSource>();
  waiter.Add(other);
  other->Write();
  EVENTUALLY(other->events == 1);
}

TEST("the thread gets a real-time priority, which the threads that it starts do not have") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  CHECK_EQUAL(waiter.SetRealtime(), 0);
  class Asks : public EventSource {
   public:
    Wake OnEvent(size_t which, uint32_t events) override {
      policy = sched_getscheduler(0);
      std::thread([&] { inherited = sched_getscheduler(0); }).join();
      return EventSource::OnEvent(which, events);
    }
    std::atomic<int> policy{-1};
    std::atomic<int> inherited{-1};
  };
  const auto source = std::make_shared<Asks>();
  waiter.Add(source);
  source->Write();
  EVENTUALLY(source->events == 1);
  CHECK_EQUAL(source->policy.load(), SCHED_FIFO | SCHED_RESET_ON_FORK);
  CHECK_EQUAL(source->inherited.load(), SCHED_OTHER);
}

TEST("the waiter's thread takes no signal") {
  static std::atomic<int> signals{0};
  signal(SIGUSR1, [](int) { signals++; });
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<EventSource>();
  waiter.Add(source);
  for (int i = 1; i <= 100; i++) {
    kill(getpid(), SIGUSR1);
    source->Write();
    EVENTUALLY(source->events >= i);
  }
  EVENTUALLY(signals == 100);
}

}  // namespace evictd::test
