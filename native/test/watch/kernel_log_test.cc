#include "watch/linux/kernel_log.h"

#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "waker.h"

// The log belongs to the machine: other records are ignored, and the tests write as few as possible.

namespace evictd::test {

namespace {

using Inbox = KernelLog::Inbox;

std::shared_ptr<KernelLog> Open(const std::shared_ptr<Inbox>& inbox) {
  try {
    return std::make_shared<KernelLog>(inbox);
  } catch (const SystemError& error) {
    Skip(error.what());  // dmesg_restrict
  }
}

// The name of this test's processes.
std::string Name() { return "evictd-" + std::to_string(getpid()); }

size_t CountMine(const KernelLog::Records& records) {
  size_t count = 0;
  for (const OomRecord& record : records.list) count += record.name == Name() ? 1 : 0;
  return count;
}

// The kernel's OOM killer has killed a process when this returns.
void KillByKernel(const Cgroup& cgroup) {
  if (!WriteText(cgroup.File("memory.limit_in_bytes"), "16M")) Skip("no limit can be set");
  WriteText(cgroup.File("memory.memsw.limit_in_bytes"), "16M");
  Member victim(cgroup, "printf " + Name() + " > /proc/self/comm; x=x; while :; do x=$x$x; done");
  CHECK_EQUAL(WTERMSIG(victim.Wait()), SIGKILL);
}

// Without the waiter: reads all records that exist now. Other programs may write all the time.
void ReadOn(KernelLog* log) {
  for (int batch = 0; batch < 16; batch++) CHECK(log->OnEvent(0, EPOLLIN) != Wake::kGone);
}

}  // namespace

TEST("OOM kills are reported, except older ones and those that a process writes into the log") {
  const Cgroup cgroup(MemoryV1());
  KillByKernel(cgroup);
  const auto inbox = std::make_shared<Inbox>();
  const auto log = Open(inbox);
  CHECK(WriteText("/dev/kmsg", "<6>Memory cgroup out of memory: Killed process 4000001 (" + Name() +
                                   ") total-vm:26544kB, anon-rss:23680kB, file-rss:1600kB, shmem-rss:4kB, UID:7\n"));
  ReadOn(log.get());
  CHECK_EQUAL(CountMine(inbox->Take()), size_t{0});
  KillByKernel(cgroup);
  ReadOn(log.get());
  const KernelLog::Records records = inbox->Take();
  CHECK_EQUAL(CountMine(records), size_t{1});
  for (const OomRecord& record : records.list) {
    if (record.name != Name()) continue;
    CHECK(!record.global && record.pid > 0 && record.anon_rss_bytes > 1024 * 1024 && record.sequence > 0);
    CHECK(record.pid != 4000001);
  }
  CHECK_EQUAL(CountMine(inbox->Take()), size_t{0});
}

TEST("logs are opened, emptied and closed by two threads while the OOM killer kills, and waiters end with one") {
  const Cgroup cgroup(MemoryV1());
  const auto kept = std::make_shared<Inbox>();
  const auto log = Open(kept);
  Waiter waiter(std::make_shared<CountingWaker>());
  waiter.Add(log);
  std::atomic<bool> stop{false};
  const auto watch = [&] {
    while (!stop) {
      const auto inbox = std::make_shared<Inbox>();
      const auto other = Open(inbox);
      const uint64_t id = waiter.Add(other);
      usleep(1000);
      inbox->Take();
      waiter.Remove(id);
      waiter.Remove(id);
    }
  };
  std::thread first(watch);
  std::thread second(watch);
  size_t mine = 0;
  for (size_t kills = 1; kills <= 3; kills++) {
    KillByKernel(cgroup);
    EVENTUALLY((mine += CountMine(kept->Take())) == kills);
    EVENTUALLY(log->wakes().Take().bits == 1);
  }
  stop = true;
  first.join();
  second.join();
  for (int round = 0; round < 20; round++) {
    Waiter ending(std::make_shared<CountingWaker>());
    ending.Add(Open(kept));
    CHECK(WriteText("/dev/kmsg", "<7>evictd-test\n"));
  }
}

}  // namespace evictd::test
