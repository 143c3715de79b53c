#include "watch/linux/memcg_threshold.h"

#include <sys/epoll.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "system/error_text.h"
#include "waker.h"
#include "watch/linux/armer.h"

namespace evictd::test {

namespace {

constexpr uint64_t kMiB = 1024 * 1024;

struct Watched {
  Watched(const Cgroup& cgroup, uint64_t bytes) : source(std::make_shared<MemcgThreshold>(cgroup.path(), bytes)) {
    armer.Arm(source, waiter.Add(source));
    EVENTUALLY((source->wakes().Take().detail & MemcgThreshold::kMoved) != 0);
  }
  ~Watched() { armer.Release(source); }

  unsigned Take() { return source->wakes().Take().bits; }

  std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  Waiter waiter{waker};
  Armer armer{&waiter};
  std::shared_ptr<MemcgThreshold> source;
};

}  // namespace

TEST("a threshold fires when usage crosses it upwards and downwards") {
  const Cgroup cgroup(MemoryV1());
  Watched watched(cgroup, 8 * kMiB);
  {
    const Member hog(cgroup, Holding(24));
    EVENTUALLY(watched.Take() == 1);
  }
  EVENTUALLY(watched.Take() == 1);
}

TEST("a threshold whose cgroup is removed is gone") {
  Cgroup cgroup(MemoryV1());
  Watched watched(cgroup, 8 * kMiB);
  cgroup.Remove();
  EVENTUALLY(watched.Take() == 2);
}

TEST("a threshold of a missing cgroup") {
  MemoryV1();
  CHECK_EQUAL(ErrorOf([] { MemcgThreshold("/sys/fs/cgroup/memory/evictd-test-none", kMiB); }), ENOENT);
}

TEST("thresholds are armed and closed by two threads while usage storms across them") {
  const Cgroup cgroup(MemoryV1());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  Armer armer(&waiter);
  const Member hog(cgroup, "while :; do head -c 12M /dev/zero | tail -c 12M >/dev/null; done");
  const auto arm = [&] {
    for (int i = 0; i < 20; i++) {
      const auto source = std::make_shared<MemcgThreshold>(cgroup.path(), 4 * kMiB);
      const uint64_t id = waiter.Add(source);
      armer.Arm(source, id);
      std::this_thread::yield();
      source->Want(static_cast<uint64_t>(i + 1) * kMiB);
      armer.Arm(source, id);
      uint64_t registered = 0;
      source->Registered(&registered);
      source->wakes().Take();
      waiter.Remove(id);
      armer.Release(source);
    }
  };
  std::thread other(arm);
  arm();
  other.join();
}

TEST("a cgroup is removed while a threshold on it is armed and closed") {
  Cgroup cgroup(MemoryV1());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  Armer armer(&waiter);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      const int error = ErrorOf([&] {
        const auto source = std::make_shared<MemcgThreshold>(cgroup.path(), 4 * kMiB);
        const uint64_t id = waiter.Add(source);
        armer.Arm(source, id);
        waiter.Remove(id);
        armer.Release(source);
      });
      if (error != 0 && error != ENOENT && error != ENODEV) Fail(__FILE__, __LINE__, ErrorName(error));
    }
  });
  for (int round = 0; round < 20; round++) cgroup.Replace();
  stop = true;
  other.join();
}

}  // namespace evictd::test
