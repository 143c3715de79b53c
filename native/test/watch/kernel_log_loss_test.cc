#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "cgroup.h"
#include "check.h"
#include "waker.h"
#include "watch/linux/kernel_log.h"

// Losses of kernel log records, and of the log itself.

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

// From now on reads of the descriptor on this thread fail in this way, without any loss in the machine's own log.
void FailReads(int fd, int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(fd), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {6, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) Skip("no system call can be made to fail here");
}

}  // namespace

TEST("a log that cannot be read any more is gone, with its errno, and keeps its records") {
  Cgroup cgroup(Cgroup2());
  // Like an unplugged device: the file of a cgroup, in a mount namespace that ends with this process.
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount(cgroup.File("cgroup.procs").c_str(), "/dev/kmsg", nullptr, MS_BIND, nullptr) != 0) {
    Skip("no file can be mounted here");
  }
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto inbox = std::make_shared<Inbox>();
  auto log = std::make_shared<KernelLog>(inbox);
  waiter.Add(log);
  bool dropped = true;
  inbox->Add({}, &dropped);
  CHECK(!dropped);
  cgroup.Remove();
  EVENTUALLY(waker->notifications == 1);
  CHECK_EQUAL(log->wakes().Take().bits, 2u);
  CHECK_EQUAL(log->error(), ENODEV);
  EVENTUALLY(log.use_count() == 1);
  log.reset();
  CHECK_EQUAL(inbox->Take().list.size(), size_t{1});
}

TEST("overwritten records are counted and reported, EINTR is not, and any other failure ends the watch") {
  const auto inbox = std::make_shared<Inbox>();
  const auto log = Open(inbox);
  FailReads(log->Descriptors()[0].fd, EPIPE);
  CHECK(log->OnEvent(0, EPOLLIN) == Wake::kFired);
  CHECK_EQUAL(log->TakeDetail(), KernelLog::kLost);
  CHECK(inbox->Take().overruns > 0);
  FailReads(log->Descriptors()[0].fd, EINTR);
  CHECK(log->OnEvent(0, EPOLLIN) == Wake::kNothing);
  CHECK_EQUAL(inbox->Take().overruns, uint64_t{0});
  FailReads(log->Descriptors()[0].fd, EIO);
  CHECK(log->OnEvent(0, EPOLLIN) == Wake::kGone);
  CHECK_EQUAL(log->error(), EIO);
}

TEST("a full inbox keeps the last kills and counts the others, also with concurrent takes") {
  constexpr uint64_t kKills = 20000;
  Inbox inbox;
  std::atomic<bool> over{false};
  KernelLog::Records all;
  const auto take = [&] {
    KernelLog::Records records = inbox.Take();
    CHECK(records.list.size() <= 256);
    for (OomRecord& record : records.list) {
      if (!all.list.empty()) CHECK(all.list.back().sequence < record.sequence);
      all.list.push_back(std::move(record));
    }
    all.dropped += records.dropped;
    all.overruns += records.overruns;
  };
  std::thread reader([&] {
    while (!over) take();
  });
  uint64_t reported = 0;
  for (uint64_t sequence = 1; sequence <= kKills; sequence++) {
    OomRecord record;
    record.sequence = sequence;
    bool dropped = false;
    inbox.Add(std::move(record), &dropped);
    reported += dropped ? 1 : 0;
    if (sequence % 100 == 0) inbox.CountOverrun();
    if (sequence == kKills / 2) {
      over = true;
      reader.join();
    }
  }
  take();
  CHECK_EQUAL(all.list.back().sequence, kKills);
  CHECK_EQUAL(all.list.size() + all.dropped, kKills);
  CHECK_EQUAL(all.dropped, reported);
  CHECK(all.dropped >= kKills / 2 - 256);
  CHECK_EQUAL(all.overruns, kKills / 100);
}

}  // namespace evictd::test
