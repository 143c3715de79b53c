#include <fcntl.h>
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
#include "system/linux/unique_fd.h"
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

TEST("directories below the deepest level that is entered are an error, and not counted") {
  const TemporaryDirectory directory("/dev/shm");             // in memory: many directories
  constexpr size_t kLevels = DirectoryWalk::kMostLevels + 1;  // below the root
  UniqueFd deepest(open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (size_t level = 0; level < kLevels; level++) {
    CHECK(mkdirat(deepest.get(), "d", 0700) == 0);
    deepest.Reset(openat(deepest.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    CHECK(static_cast<bool>(deepest));
  }
  const std::atomic<bool> cancelled{false};
  const DirectoryWalk::Usage usage = DirectoryWalk().Run(directory.path(), cancelled);
  CHECK_EQUAL(usage.errors, uint64_t{1});
  CHECK_EQUAL(usage.first_error, ENAMETOOLONG);
  CHECK_EQUAL(usage.inodes, uint64_t{DirectoryWalk::kMostLevels + 1});
  CHECK(usage.complete);
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
