#include "system/linux/thread.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

namespace {

struct Seen {
  size_t stack_bytes = 0;
  bool blocked = true;
};

void* Look(void* argument) {
  Seen* seen = static_cast<Seen*>(argument);
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &seen->stack_bytes);
  pthread_attr_destroy(&attributes);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1}) {
    seen->blocked = seen->blocked && sigismember(&mask, signal) == 1;
  }
  return nullptr;
}

}  // namespace

TEST("a thread has a small stack and all signals blocked, and its creator's mask is unchanged") {
  Seen seen;
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  pthread_join(StartThread("evictd-test", &Look, &seen), nullptr);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(seen.stack_bytes > 0 && seen.stack_bytes <= 1024 * 1024);
  CHECK(seen.blocked);
  for (int signal = 1; signal < 32; signal++) CHECK_EQUAL(sigismember(&before, signal), sigismember(&after, signal));
}

TEST("EAGAIN if no thread can be created") {
  const char* const pids = "/sys/fs/cgroup/pids";
  if (access((std::string(pids) + "/cgroup.procs").c_str(), W_OK) != 0) Skip("no pids controller of cgroup v1");
  const Cgroup cgroup(pids);
  CHECK(WriteText(cgroup.File("cgroup.procs"), std::to_string(getpid())));
  CHECK(WriteText(cgroup.File("pids.max"), "1"));
  const int error = ErrorOf([] { StartThread("evictd-test", &Look, nullptr); });
  CHECK(WriteText(std::string(pids) + "/cgroup.procs", std::to_string(getpid())));
  CHECK_EQUAL(error, EAGAIN);
}

}  // namespace evictd::test
