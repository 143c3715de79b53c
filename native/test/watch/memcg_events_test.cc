#include "watch/linux/memcg_events.h"

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "system/error_text.h"
#include "waker.h"

namespace evictd::test {

namespace {

struct Watched {
  explicit Watched(const Cgroup& cgroup) : source(std::make_shared<MemcgEvents>(cgroup.path(), "cgroup.events")) {
    waiter.Add(source);
  }

  unsigned Take() { return source->wakes().Take().bits; }

  std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  Waiter waiter{waker};
  std::shared_ptr<MemcgEvents> source;
};

}  // namespace

TEST("cgroup.events wakes when the cgroup is populated and when it becomes empty") {
  const Cgroup cgroup(Cgroup2());
  Watched watched(cgroup);
  std::optional<Member> member(std::in_place, cgroup, "sleep 600");
  EVENTUALLY(watched.Take() == 1);
  member.reset();
  EVENTUALLY(watched.Take() == 1);
}

TEST("a watch whose cgroup is removed is gone, whether it ever had a process or not") {
  Cgroup never(Cgroup2());
  Watched empty(never);
  never.Remove();
  EVENTUALLY((empty.Take() & 2) != 0);
  Cgroup used(Cgroup2());
  Watched watched(used);
  std::optional<Member> member(std::in_place, used, "sleep 600");
  member.reset();
  used.Remove();
  EVENTUALLY((watched.Take() & 2) != 0);
}

TEST("a watch of a missing cgroup or file") {
  const Cgroup cgroup(Cgroup2());
  CHECK_EQUAL(ErrorOf([&] { MemcgEvents(cgroup.File("none"), "cgroup.events"); }), ENOENT);
  CHECK_EQUAL(ErrorOf([&] { MemcgEvents(cgroup.path(), "none.events"); }), ENOENT);
}

TEST("a cgroup is removed and created again while it is watched by name") {
  Cgroup cgroup(Cgroup2());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  std::atomic<bool> stop{false};
  std::thread watcher([&] {
    while (!stop) {
      const int error = ErrorOf([&] {
        const auto source = std::make_shared<MemcgEvents>(cgroup.path(), "cgroup.events");
        waiter.Remove(waiter.Add(source));
      });
      if (error != 0 && error != ENOENT && error != ENODEV) Fail(__FILE__, __LINE__, ErrorName(error));
    }
  });
  for (int round = 0; round < 100; round++) cgroup.Replace();
  stop = true;
  watcher.join();
}

}  // namespace evictd::test
