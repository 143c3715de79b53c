#include "linux/directory_usage.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>

#include "bell.h"
#include "cgroup.h"
#include "check.h"

namespace evictd::test {

TEST("a walk counts each file once and rings when it is over") {
  const TemporaryDirectory directory;
  CHECK(WriteText(directory.File("first"), "text"));
  CHECK(link(directory.File("first").c_str(), directory.File("second").c_str()) == 0);
  const auto bell = std::make_shared<CountingBell>();
  DirectoryWalks walks(bell);
  DirectoryUsage usage(directory.path(), &walks);
  EVENTUALLY(bell->rings == 1);
  DirectoryWalk::Usage counted;
  CHECK(usage.TakeDone(&counted));
  CHECK(!usage.TakeDone(&counted));
  CHECK_EQUAL(counted.inodes, decltype(counted.inodes){2});
}

TEST("walks are cancelled at any time, and their threads end") {
  const auto bell = std::make_shared<CountingBell>();
  for (int round = 0; round < 30; round++) {
    DirectoryWalks walks(bell);
    std::optional<DirectoryUsage> first(std::in_place, "/usr/lib", &walks);
    const DirectoryUsage second("/usr/include", &walks);
    if (round % 2 == 0) usleep(1000);
    first.reset();
  }
  EVENTUALLY(bell.use_count() == 1);
}

}  // namespace evictd::test
