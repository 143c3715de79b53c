#include "watch/linux/process_exit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "waker.h"

namespace evictd::test {

namespace {

// Processes that sleep until they are killed.
class Crowd {
 public:
  explicit Crowd(size_t size)
      : leader_(cgroup_, "i=1; while [ $i -lt " + std::to_string(size) +
                             " ]; do sleep 600 & i=$((i + 1)); done; exec sleep 600") {
    EVENTUALLY(cgroup_.Members().size() == size);
    pids_ = cgroup_.Members();
  }

  const std::vector<pid_t>& pids() const { return pids_; }

  void Kill() const { kill(-leader_.pid(), SIGKILL); }

 private:
  const Cgroup cgroup_{Cgroup2()};
  const Member leader_;
  std::vector<pid_t> pids_;
};

}  // namespace

TEST("each exit fires, before the process is waited for, and the last one ends the watch") {
  const Crowd crowd(3);
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<ProcessExit>(crowd.pids());
  CHECK_EQUAL(source->remaining(), size_t{3});
  const uint64_t id = waiter.Add(source);
  for (int killed = 1; killed <= 3; killed++) {
    kill(crowd.pids()[static_cast<size_t>(killed) - 1], SIGKILL);
    EVENTUALLY(waker->notifications == killed);
    CHECK_EQUAL(source->remaining(), size_t{3} - static_cast<size_t>(killed));
    CHECK_EQUAL(source->wakes().Take().bits, killed < 3 ? 1u : 2u);
  }
  CHECK_EQUAL(source->error(), 0);
  EVENTUALLY(source.use_count() == 1);
  waiter.Remove(id);
  waiter.Remove(id);
}

TEST("without a process at the start the watch is gone at once") {
  pid_t gone = 0;
  {
    const Crowd crowd(1);
    gone = crowd.pids()[0];
  }
  for (const std::vector<pid_t>& pids : {std::vector<pid_t>{}, std::vector<pid_t>{gone}}) {
    Waiter waiter(std::make_shared<CountingWaker>());
    const auto source = std::make_shared<ProcessExit>(pids);
    CHECK_EQUAL(source->remaining() + source->missed(), size_t{0});
    waiter.Add(source);
    EVENTUALLY(source->wakes().Take().bits == 2);
  }
}

TEST("processes outside the namespace or beyond the descriptor limit count as missed") {
  const Crowd crowd(3);
  std::vector<pid_t> pids = crowd.pids();
  pids.push_back(0);
  const ProcessExit source(pids);
  CHECK_EQUAL(source.remaining(), size_t{3});
  CHECK_EQUAL(source.missed(), size_t{1});
  CHECK_EQUAL(ErrorOf([] { ProcessExit(std::vector<pid_t>{0}); }), EPERM);

  struct rlimit limit = {64, 64};
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<UniqueFd> held;
  while (const UniqueFd& last = held.emplace_back(open("/dev/null", O_RDONLY))) CHECK(last.get() < 64);
  held.resize(held.size() - 4);  // and the refused one: one for the set, two for processes
  const ProcessExit some(crowd.pids());
  CHECK_EQUAL(some.remaining(), size_t{2});
  CHECK_EQUAL(some.missed(), size_t{1});
  held.pop_back();
  CHECK_EQUAL(ErrorOf([&] { ProcessExit(crowd.pids()); }), EMFILE);
}

TEST("of many exits at once none is missed, and the remaining count never rises") {
  const Crowd crowd(150);
  Waiter waiter(std::make_shared<CountingWaker>());
  const auto source = std::make_shared<ProcessExit>(crowd.pids());
  waiter.Add(source);
  std::thread reader([&] {
    for (size_t before = 150; before > 0;) {
      const size_t now = source->remaining();
      CHECK(now <= before);
      before = now;
    }
  });
  crowd.Kill();
  EVENTUALLY((source->wakes().Take().bits & 2) != 0);
  reader.join();
  CHECK_EQUAL(source->remaining(), size_t{0});
}

TEST("watches are added and closed by two threads while their processes exit, and the waiter ends with some") {
  for (int round = 0; round < 3; round++) {
    const Crowd crowd(40);
    std::vector<std::shared_ptr<ProcessExit>> left;
    {
      Waiter waiter(std::make_shared<CountingWaker>());
      for (int i = 0; i < 5; i++) waiter.Add(left.emplace_back(std::make_shared<ProcessExit>(crowd.pids())));
      std::atomic<bool> stop{false};
      const auto watch = [&] {
        while (!stop) {
          const auto source = std::make_shared<ProcessExit>(crowd.pids());
          const uint64_t id = waiter.Add(source);
          std::this_thread::yield();
          waiter.Remove(id);
          const size_t remaining = source->remaining();
          waiter.Remove(id);
          CHECK_EQUAL(source->remaining(), remaining);
        }
      };
      std::thread first(watch);
      std::thread second(watch);
      for (size_t i = 0; i < 20; i++) kill(crowd.pids()[i], SIGKILL);
      EVENTUALLY(left[0]->remaining() <= 20);
      crowd.Kill();
      stop = true;
      first.join();
      second.join();
    }
    for (const auto& source : left) CHECK_EQUAL(source.use_count(), 1);
  }
}

}  // namespace evictd::test
