#include "kill/linux/memory_reaper.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "kill/frozen.h"
#include "kill/linux/process.h"

namespace evictd::test {

namespace {

// Also of a dying process that still has memory.
long ResidentMiB(pid_t pid) {
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

UniqueFd NoProcess() { return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

TEST("the memory of a killed process that is not scheduled is released") {
  const Cgroup cgroup(FreezerV1());
  const Member member(cgroup, "exec 2>&1; (head -c 32M /dev/zero; exec sleep 600) | tail -c 32M");
  pid_t holder = 0;
  EVENTUALLY([&] {
    for (const pid_t pid : cgroup.Members()) holder = ResidentMiB(pid) >= 32 ? pid : holder;
    return holder != 0;
  }());
  MemoryReaper reaper;
  const Frozen frozen(cgroup);
  CHECK_EQUAL(kill(holder, SIGKILL), 0);
  CHECK(ResidentMiB(holder) >= 32);
  UniqueFd pidfd(OpenPidfd(holder));
  CHECK(pidfd);
  reaper.Take(std::move(pidfd));
  EVENTUALLY(reaper.counts().released == 1);
  CHECK(ResidentMiB(holder) < 8);
  CHECK_EQUAL(reaper.counts().error, 0);
}

TEST("a live process and one that is gone are not failures; a descriptor of no process is one") {
  const Cgroup cgroup(Cgroup2());
  const Member alive(cgroup, "exec sleep 600");
  Member gone(cgroup, "exec sleep 600");
  UniqueFd pidfds[] = {UniqueFd(OpenPidfd(gone.pid())), UniqueFd(OpenPidfd(alive.pid()))};
  kill(gone.pid(), SIGKILL);
  gone.Wait();
  MemoryReaper reaper;
  for (UniqueFd& pidfd : pidfds) {
    const int number = pidfd.get();
    CHECK(number >= 0);
    reaper.Take(std::move(pidfd));
    EVENTUALLY(fcntl(number, F_GETFD) < 0);  // it was processed
    CHECK_EQUAL(reaper.counts().error, 0);
  }
  reaper.Take(NoProcess());
  EVENTUALLY(reaper.counts().error == EBADF);
  CHECK_EQUAL(reaper.counts().released, uint64_t{0});
  CHECK_EQUAL(kill(alive.pid(), 0), 0);
}

TEST("several threads queue more processes than fit while those die, and others read the counts") {
  const Cgroup cgroup(Cgroup2());
  const Member leader(cgroup, "i=1; while [ $i -lt 40 ]; do sleep 600 & i=$((i + 1)); done; exec sleep 600");
  EVENTUALLY(cgroup.Members().size() == 40);
  const std::vector<pid_t> pids = cgroup.Members();
  MemoryReaper reaper;
  const auto give = [&] {
    uint64_t before = 0;
    for (int round = 0; round < 20; round++) {
      std::vector<UniqueFd> pidfds;
      for (size_t i = 0; i < 3 * pids.size(); i++) pidfds.emplace_back(OpenPidfd(pids[i % pids.size()]));
      for (UniqueFd& pidfd : pidfds) {
        if (pidfd) reaper.Take(std::move(pidfd));
      }
      const MemoryReaper::Counts counts = reaper.counts();
      CHECK(counts.released >= before);
      CHECK_EQUAL(counts.error, 0);
      before = counts.released;
      if (round == 2) kill(-leader.pid(), SIGKILL);
    }
  };
  std::thread first(give);
  std::thread second(give);
  first.join();
  second.join();
  // There is room again in the end.
  EVENTUALLY((reaper.Take(NoProcess()), reaper.counts().error == EBADF));
}

TEST("the owner is destroyed while its thread works and processes are queued") {
  const Cgroup cgroup(Cgroup2());
  const Member member(cgroup, "exec sleep 600");
  for (int round = 0; round < 100; round++) {
    std::optional<MemoryReaper> reaper(std::in_place);
    for (int i = 0; i < round; i++) reaper->Take(UniqueFd(OpenPidfd(member.pid())));
    if (round % 2 == 0) std::this_thread::yield();
    reaper.reset();
  }
}

}  // namespace evictd::test
