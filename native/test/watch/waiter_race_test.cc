#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"
#include "waker.h"
#include "watch/linux/waiter.h"

// Threads that add, remove, post and fire at once, for the thread sanitizer.

namespace evictd::test {

namespace {

class StormSource : public WatchSource {
 public:
  std::vector<Descriptor> Descriptors() const override { return {{event_.get(), EPOLLIN}}; }

  Wake OnEvent(size_t, uint32_t) override {
    if (removed) Fail(__FILE__, __LINE__, "called after Remove");
    calls_++;  // not atomic: only the waiter's thread uses it
    Detail(1);
    return calls_ == kGoneAt ? Gone(ENODEV) : Wake::kFired;  // never drained: fires as long as it is in the set
  }

  static constexpr int kGoneAt = 1000;
  std::atomic<bool> removed{false};

 private:
  UniqueFd event_{eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
  int calls_ = 0;
};

}  // namespace

TEST("watches are added, removed and posted to by several threads while all of them fire") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([&waiter] {
      for (int i = 0; i < 150; i++) {
        const auto source = std::make_shared<StormSource>();
        const uint64_t id = waiter.Add(source);
        for (int post = 0; post < 5; post++) {
          waiter.Post(id, Wake::kFired, 2);
          source->wakes().Take();
        }
        waiter.Remove(id);
        source->removed = true;
        CHECK(source->error() == 0 || source->error() == ENODEV);
        waiter.Post(id, Wake::kGone, 0);
        waiter.Remove(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST("several threads post to one watch while it is removed") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  for (int round = 0; round < 100; round++) {
    const auto source = std::make_shared<StormSource>();
    const uint64_t id = waiter.Add(source);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; thread++) {
      threads.emplace_back([&waiter, id, thread] {
        for (int post = 0; post < 20; post++) waiter.Post(id, thread == 0 ? Wake::kGone : Wake::kFired, 1);
      });
    }
    waiter.Remove(id);
    source->removed = true;
    source->wakes().Take();
    for (std::thread& thread : threads) thread.join();
    // A post that found the watch before Remove can only be under way until its thread has ended.
    source->wakes().Take();
    EVENTUALLY(source.use_count() == 1);
    CHECK_EQUAL(source->wakes().Take().bits, 0u);
  }
}

TEST("the waiter ends while its watches fire, and releases them") {
  for (int round = 0; round < 50; round++) {
    const auto waker = std::make_shared<CountingWaker>();
    std::vector<std::shared_ptr<StormSource>> sources;
    {
      Waiter waiter(waker);
      for (int i = 0; i < 20; i++) {
        sources.push_back(std::make_shared<StormSource>());
        waiter.Add(sources.back());
      }
    }
    for (const auto& source : sources) CHECK_EQUAL(source.use_count(), 1);
    CHECK_EQUAL(waker.use_count(), 1);
  }
}

}  // namespace evictd::test
