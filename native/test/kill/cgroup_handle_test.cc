#include "kill/linux/cgroup_handle.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

namespace {

// v1 if possible: there the kernel does not help with a kill.
std::string AnyHierarchy() {
  return access((std::string(kMemoryV1) + "/cgroup.procs").c_str(), F_OK) == 0 ? kMemoryV1 : Cgroup2();
}

size_t CountProcesses(const CgroupHandle& handle) {
  int error = 0;
  const size_t count = handle.Processes(&error).size();
  CHECK_EQUAL(error, 0);
  return count;
}

}  // namespace

TEST("every process of the cgroup gets the signal, and no other") {
  const Cgroup cgroup(AnyHierarchy());
  const Cgroup neighbour(AnyHierarchy());
  Member first(cgroup, "exec sleep 600");
  Member second(cgroup, "exec sleep 600");
  const Member other(neighbour, "exec sleep 600");
  CgroupHandle handle(cgroup.path());
  CHECK_EQUAL(CountProcesses(handle), size_t{2});
  const CgroupHandle::Signalled result = handle.Signal(SIGTERM);
  CHECK_EQUAL(result.found, size_t{2});
  CHECK_EQUAL(result.signalled, size_t{2});
  CHECK_EQUAL(result.error, 0);
  CHECK_EQUAL(WTERMSIG(first.Wait()), SIGTERM);
  CHECK_EQUAL(WTERMSIG(second.Wait()), SIGTERM);
  CHECK_EQUAL(kill(other.pid(), 0), 0);
  EVENTUALLY(CountProcesses(handle) == 0);
}

TEST("cgroup.kill ends all that is in the cgroup") {
  const Cgroup cgroup(Cgroup2());
  Member member(cgroup, "sleep 600 & sleep 600 & wait");
  CgroupHandle handle(cgroup.path());
  if (access(cgroup.File("cgroup.kill").c_str(), F_OK) != 0) Skip("this kernel has no cgroup.kill");
  handle.Kill();
  CHECK_EQUAL(WTERMSIG(member.Wait()), SIGKILL);
  EVENTUALLY(CountProcesses(handle) == 0);
}

TEST("a handle belongs to one cgroup, not to its name") {
  Cgroup cgroup(AnyHierarchy());
  CgroupHandle old(cgroup.path());
  CHECK_EQUAL(ErrorOf([&] { CgroupHandle(cgroup.path(), old.id()); }), 0);
  cgroup.Replace();
  const Member member(cgroup, "exec sleep 600");
  CHECK_EQUAL(ErrorOf([&] { CgroupHandle(cgroup.path(), old.id()); }), ESTALE);
  CHECK_EQUAL(CountProcesses(old), size_t{0});
  CHECK_EQUAL(old.Signal(SIGKILL).found, size_t{0});
  CHECK_EQUAL(kill(member.pid(), 0), 0);
  CHECK_EQUAL(ErrorOf([&] { CgroupHandle(cgroup.File("none")); }), ENOENT);
}

TEST("the caller itself is never signalled") {
  const Cgroup cgroup(AnyHierarchy());
  CHECK(WriteText(cgroup.File("cgroup.procs"), std::to_string(getpid())));
  const CgroupHandle::Signalled result = CgroupHandle(cgroup.path()).Signal(SIGTERM);
  CHECK(WriteText(AnyHierarchy() + "/cgroup.procs", std::to_string(getpid())));
  CHECK_EQUAL(result.found, size_t{1});
  CHECK_EQUAL(result.signalled, size_t{0});
  CHECK_EQUAL(result.error, EPERM);
}

TEST("processes are listed and signalled by two threads, each with a handle of its own, while they come and go") {
  const Cgroup cgroup(AnyHierarchy());
  const Member spawner(cgroup, "trap '' USR1; while :; do /bin/true & /bin/true; done");
  const auto pass = [&] {
    CgroupHandle handle(cgroup.path());
    for (int i = 0; i < 50; i++) {
      CHECK_EQUAL(handle.Signal(SIGUSR1).error, 0);
      CountProcesses(handle);
    }
  };
  std::thread other(pass);
  pass();
  other.join();
}

}  // namespace evictd::test
