#include "watch/linux/psi_trigger.h"

#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cgroup.h"
#include "check.h"
#include "waker.h"

namespace evictd::test {

namespace {

void NeedPressure() {
  if (access("/proc/pressure/memory", R_OK) != 0) Skip("this kernel has no PSI");
}

}  // namespace

TEST("the trigger of a removed cgroup is gone once, though its descriptor reports an error for ever") {
  NeedPressure();
  Cgroup cgroup(Cgroup2());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source =
      std::make_shared<PsiTrigger>(cgroup.File("cpu.pressure"), PsiTrigger::Kind::kSome, 100000, 2000000);
  waiter.Add(source);
  cgroup.Remove();
  EVENTUALLY(waker->notifications == 1);
  CHECK_EQUAL(source->wakes().Take().bits, 2u);
  EVENTUALLY(source.use_count() == 1);
}

TEST("a trigger fires when processes wait for the processor") {
  NeedPressure();
  const Cgroup cgroup(Cgroup2());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source =
      std::make_shared<PsiTrigger>(cgroup.File("cpu.pressure"), PsiTrigger::Kind::kSome, 50000, 2000000);
  waiter.Add(source);
  std::string spin;
  for (int i = 0; i < 8; i++) spin += "while :; do :; done & ";
  const Member busy(cgroup, spin + "wait");
  EVENTUALLY(waker->notifications > 0);
  CHECK_EQUAL(source->wakes().Take().bits, 1u);
}

TEST("a window that the kernel refuses, and a missing file") {
  NeedPressure();
  CHECK_EQUAL(ErrorOf([] { PsiTrigger("/proc/pressure/memory", PsiTrigger::Kind::kFull, 1000, 20000000); }), EINVAL);
  CHECK_EQUAL(ErrorOf([] { PsiTrigger("/proc/pressure/none", PsiTrigger::Kind::kFull, 1000, 2000000); }), ENOENT);
}

}  // namespace evictd::test
