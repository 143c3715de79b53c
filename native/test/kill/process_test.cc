#include "kill/linux/process.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

TEST("a process is signalled by its descriptor until it is gone") {
  const Cgroup cgroup(Cgroup2());
  Member member(cgroup, "exec sleep 600");
  Process process(member.pid());
  process.Signal(0);
  process.Signal(SIGTERM);
  CHECK_EQUAL(WTERMSIG(member.Wait()), SIGTERM);
  CHECK_EQUAL(ErrorOf([&] { process.Signal(0); }), ESRCH);
  CHECK_EQUAL(ErrorOf([&] { Process gone(member.pid()); }), ESRCH);
}

TEST("numbers that are not a process") {
  CHECK_EQUAL(ErrorOf([] { Process none(0); }), EINVAL);
  CHECK_EQUAL(ErrorOf([] { Process none(-1); }), EINVAL);
}

}  // namespace evictd::test
