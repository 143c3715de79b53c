#include "filesystem/filesystem_stats.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "system/linux/unique_fd.h"
#include "waker.h"

namespace evictd::test {

namespace {

// A FUSE filesystem that never answers, not even the first request, until it is aborted: like a dead network mount.
class HungMount {
 public:
  explicit HungMount(std::string path) : path_(std::move(path)) {
    if (!device_) Skip("/dev/fuse cannot be opened here");
    const std::string options = "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    if (mount("evictd-test", path_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
      Skip("FUSE cannot be mounted here");
    }
  }
  ~HungMount() {
    Abort();
    umount2(path_.c_str(), MNT_DETACH);
  }
  HungMount(const HungMount&) = delete;
  HungMount& operator=(const HungMount&) = delete;

  // Waiting calls get ENOTCONN or ECONNABORTED.
  void Abort() { device_.Reset(); }

 private:
  std::string path_;
  UniqueFd device_{open("/dev/fuse", O_RDWR | O_CLOEXEC)};
};

}  // namespace

TEST("each request is answered once, with the filesystem's figures") {
  const auto waker = std::make_shared<CountingWaker>();
  FilesystemThreads owners(waker);
  FilesystemStats stats("/", &owners);
  CHECK_EQUAL(stats.Read().at_ns, uint64_t{0});
  for (int request = 1; request <= 20; request++) {
    CHECK(stats.Request());
    EVENTUALLY(waker->notifications == request);
    CHECK(stats.TakeDone());
    CHECK(!stats.TakeDone());
  }
  struct statfs expected = {};
  CHECK(statfs("/", &expected) == 0);
  const FilesystemStats::Reading reading = stats.Read();
  CHECK_EQUAL(reading.error, 0);
  CHECK(!reading.pending);
  CHECK_EQUAL(reading.total_bytes, expected.f_blocks * static_cast<uint64_t>(expected.f_frsize));
  CHECK(reading.available_bytes <= reading.free_bytes && reading.free_bytes <= reading.total_bytes);
}

TEST("a missing path is an errno, not an exception") {
  const auto waker = std::make_shared<CountingWaker>();
  FilesystemThreads owners(waker);
  FilesystemStats stats("/none", &owners);
  CHECK(stats.Request());
  EVENTUALLY(waker->notifications == 1);
  CHECK_EQUAL(stats.Read().error, ENOENT);
}

TEST("several threads request and read at once, and the owner is destroyed with pending requests") {
  const auto waker = std::make_shared<CountingWaker>();
  for (int round = 0; round < 30; round++) {
    FilesystemThreads owners(waker);
    FilesystemStats stats("/", &owners);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; thread++) {
      threads.emplace_back([&stats] {
        for (int i = 0; i < 20; i++) {
          stats.Request();
          CHECK_EQUAL(stats.Read().error, 0);
          stats.TakeDone();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    stats.Request();
  }
  EVENTUALLY(waker.use_count() == 1);
}

TEST("a hanging mount delays neither another filesystem nor the destruction of its owner") {
  const TemporaryDirectory directory;
  HungMount hung(directory.path());
  const auto waker = std::make_shared<CountingWaker>();
  FilesystemThreads owners(waker);
  std::optional<FilesystemStats> stuck(std::in_place, directory.path(), &owners);
  CHECK(stuck->Request());
  FilesystemStats other("/", &owners);
  for (int request = 1; request <= 5; request++) {
    CHECK(other.Request());
    EVENTUALLY(waker->notifications == request);
  }
  CHECK(stuck->Read().pending);
  CHECK(stuck->Read().pending_since_ns > 0);
  CHECK(!stuck->Request());
  stuck.reset();
  hung.Abort();  // the thread left behind ends: the runner counts threads
}

TEST("an owner destroyed during a hanging reading notifies the sampler") {
  const TemporaryDirectory directory;
  HungMount hung(directory.path());
  FilesystemThreads owners(std::make_shared<CountingWaker>());
  const auto waker = std::make_shared<CountingWaker>();
  std::optional<FilesystemStats> stuck(std::in_place, directory.path(), &owners);
  stuck->RequestSample(waker);
  // The test proves its rule only if the reading has begun by then; it passes in any case.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK_EQUAL(waker->notifications.load(), 0);
  stuck.reset();
  CHECK_EQUAL(waker->notifications.load(), 1);
  hung.Abort();
}

}  // namespace evictd::test
