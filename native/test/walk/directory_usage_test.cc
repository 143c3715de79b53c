#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "cgroup.h"
#include "check.h"
#include "waker.h"
#include "walk/linux/background_walk.h"
#include "walk/linux/directory_walk.h"

namespace evictd::test {

namespace {

using DirectoryUsage = BackgroundReading<DirectoryWalk::Usage>;

DirectoryUsage::Work Walk(const std::string& path) {
  return [path](const auto& cancelled) { return DirectoryWalk().Run(path, cancelled); };
}

}  // namespace

TEST("a walk counts each file once and notifies at its end") {
  const TemporaryDirectory directory;
  CHECK(WriteText(directory.File("first"), "text"));
  CHECK(link(directory.File("first").c_str(), directory.File("second").c_str()) == 0);
  const auto waker = std::make_shared<CountingWaker>();
  BackgroundWalks walks(waker);
  DirectoryUsage usage("it", Walk(directory.path()), &walks);
  EVENTUALLY(waker->notifications == 1);
  DirectoryWalk::Usage counted;
  CHECK(usage.TakeDone(&counted));
  CHECK(!usage.TakeDone(&counted));
  CHECK_EQUAL(counted.inodes, decltype(counted.inodes){2});
}

TEST("walks are cancelled at any time, and their threads end") {
  const auto waker = std::make_shared<CountingWaker>();
  for (int round = 0; round < 30; round++) {
    BackgroundWalks walks(waker);
    std::optional<DirectoryUsage> first(std::in_place, "it", Walk("/usr/lib"), &walks);
    const DirectoryUsage second("it", Walk("/usr/include"), &walks);
    if (round % 2 == 0) usleep(1000);
    first.reset();
  }
  EVENTUALLY(waker.use_count() == 1);
}

TEST("work that throws ends without further effect") {
  const auto waker = std::make_shared<CountingWaker>();
  BackgroundWalks walks(waker);
  BackgroundReading<int> reading(
      "it", [](const auto&) -> int { throw std::bad_alloc(); }, &walks);
  EVENTUALLY(waker->notifications == 1);
  int result = 1;
  CHECK(reading.TakeDone(&result));
  CHECK_EQUAL(result, 0);
}

TEST("a walk has the lowest priority for the processor") {
  const auto waker = std::make_shared<CountingWaker>();
  const auto niceness = [](const auto&) { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); };
  BackgroundWalks walks(waker);
  BackgroundReading<int> reading("it", niceness, &walks);
  EVENTUALLY(waker->notifications == 1);
  int result = 0;
  CHECK(reading.TakeDone(&result));
  CHECK_EQUAL(result, 19);
}

}  // namespace evictd::test
