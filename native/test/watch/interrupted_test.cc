// EINTR: by a signal whose handler does not restart calls and, with all signals blocked, by a stop.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "kill/linux/cgroup_processes.h"
#include "read/linux/reader.h"
#include "waker.h"
#include "watch/linux/waiter.h"

namespace evictd::test {

namespace {

std::atomic<int> taken{0};

// Whether the kernel has put a thread to sleep: S in its stat, after the name, which may contain anything.
bool Sleeps(const std::string& task) {
  const std::string stat = ReadText(task + "/stat");
  const size_t name = stat.rfind(") ");
  return name != std::string::npos && stat.compare(name + 2, 1, "S") == 0;
}

// Runs `call` in a thread and interrupts it there whenever it waits.
class Interrupted {
 public:
  template <typename Call>
  explicit Interrupted(Call call) {
    struct sigaction action = {};
    action.sa_handler = [](int) { taken++; };
    CHECK_EQUAL(sigaction(SIGUSR1, &action, nullptr), 0);
    thread_ = std::thread([this, call] {
      id_ = static_cast<pid_t>(syscall(SYS_gettid));
      call();
      returned_ = true;
    });
  }
  ~Interrupted() { thread_.join(); }

  void Interrupt() {
    for (int i = 0; i < 3; i++) {
      EVENTUALLY(returned_ || (id_ != 0 && Sleeps("/proc/self/task/" + std::to_string(id_))));
      if (returned_) return;
      const int before = taken;
      pthread_kill(thread_.native_handle(), SIGUSR1);
      EVENTUALLY(taken > before || returned_);
    }
  }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> returned_{false};
  std::thread thread_;
};

}  // namespace

TEST("a list of processes is read to its end, interrupted before, between and after its lines") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("cgroup.procs");
  CHECK_EQUAL(mkfifo(file.c_str(), 0600), 0);
  UniqueFd writer(open(file.c_str(), O_RDWR | O_CLOEXEC));
  const UniqueFd cgroup(open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int error = -1;
  std::vector<pid_t> pids;
  {
    Interrupted reading([&] { error = ReadProcesses(cgroup.get(), &pids); });
    for (const char* piece : {"12", "3\n45", "6\n"}) {
      reading.Interrupt();
      CHECK_EQUAL(write(writer.get(), piece, strlen(piece)), static_cast<ssize_t>(strlen(piece)));
    }
    reading.Interrupt();
    writer.Reset();
  }
  CHECK_EQUAL(error, 0);
  CHECK_EQUAL(pids.size(), 2u);
  CHECK_EQUAL(pids[0], 123);
  CHECK_EQUAL(pids[1], 456);
}

// The kernel log: the one file that blocks for data and has no position for pread.
TEST("a file that is interrupted while it is read is read again") {
  const UniqueFd log(open("/dev/kmsg", O_RDONLY | O_CLOEXEC));
  const UniqueFd writer(open("/dev/kmsg", O_WRONLY | O_CLOEXEC));
  if (!log || !writer) Skip("the kernel log may not be read");
  lseek(log.get(), 0, SEEK_END);
  TextBuffer buffer;
  int error = -1;
  std::string_view text;
  {
    Interrupted reading([&] { error = buffer.ReadBeginning(log.get(), &text); });
    reading.Interrupt();
    const std::string line = "<7>evictd-test: a line of a test\n";
    CHECK_EQUAL(write(writer.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  CHECK_EQUAL(error, 0);
  CHECK(text.find(';') != std::string_view::npos);
}

namespace {

class Counter : public WatchSource {
 public:
  std::vector<Descriptor> Descriptors() const override { return {{event.get(), EPOLLIN}}; }
  Wake OnEvent(size_t, uint32_t) override {
    eventfd_t count = 0;
    eventfd_read(event.get(), &count);
    return Wake::kFired;
  }

  UniqueFd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// Fires once, and once more for each byte it receives; sends a byte after each notification.
void WakeOnDemand(int demands, int answers) {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto source = std::make_shared<Counter>();
  waiter.Add(source);
  char byte = 'w';
  do {
    const int before = waker->notifications;
    eventfd_write(source->event.get(), 1);
    EVENTUALLY(waker->notifications > before);
    source->wakes().Take();
  } while (write(answers, &byte, 1) == 1 && read(demands, &byte, 1) == 1);
}

std::string WaiterOf(pid_t process) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    if (ReadText(task.path().string() + "/comm") == "evictd-waiter\n") return task.path();
  }
  return "";
}

}  // namespace

// No signal is delivered there, yet epoll_wait is interrupted (signal(7)).
TEST("a process that is stopped and continued is woken as before") {
  int demands[2];
  int answers[2];
  CHECK(pipe2(demands, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0);
  const UniqueFd demanded(demands[0]);
  UniqueFd demand(demands[1]);
  const UniqueFd answer(answers[0]);
  UniqueFd answered(answers[1]);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    demand.Reset();
    try {
      WakeOnDemand(demanded.get(), answered.get());
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  answered.Reset();
  char byte = 0;
  bool woken = read(answer.get(), &byte, 1) == 1;
  const std::string waiter = WaiterOf(child);
  for (int round = 0; woken && round < 20; round++) {
    EVENTUALLY(Sleeps(waiter));
    int status = 0;
    kill(child, SIGSTOP);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    kill(child, SIGCONT);
    woken = write(demand.get(), "w", 1) == 1 && read(answer.get(), &byte, 1) == 1;
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(woken);
}

}  // namespace evictd::test
