#include "system/linux/child_program.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "system/detached_thread.h"
#include "system/system_error.h"

namespace evictd {

struct ChildProgram::State {
  State(Command run, std::shared_ptr<Waker> to_notify) : command(std::move(run)), waker(std::move(to_notify)) {}

  // The group exists once the child has called setsid.
  void Kill() {
    const std::lock_guard<std::mutex> lock(mutex);
    cancelled = true;
    if (pid == 0) return;
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
  }

  Command command;
  const std::shared_ptr<Waker> waker;
  std::mutex mutex;           // held for a signal or waitpid: after waitpid the pid may belong to another process
  std::atomic<pid_t> pid{0};  // set by the child, which shares the memory until exec
  bool cancelled = false;
  std::atomic<bool> done{false};
  End end;
};

namespace {

constexpr std::chrono::milliseconds kRetry(10);
constexpr size_t kStackBytes = 64 * 1024;
constexpr int kPriority = 10;
constexpr int kNotStarted = 127;

struct Program {
  pid_t parent;
  char* const* arguments;
  char* const* environment;
  std::atomic<pid_t>* pid;
  int error;
};

// Runs in the child, in this process's memory: system calls only. All signals are blocked in its thread.
int Exec(void* argument) {
  auto* const program = static_cast<Program*>(argument);
  *program->pid = getpid();
  // The kernel's own call: the C library keeps two signals to itself, and make leaves them ignored.
  const uint64_t by_default[4] = {};  // SIG_DFL, no flags, no restorer, no mask
  for (int signal = 1; signal < NSIG; signal++)
    syscall(SYS_rt_sigaction, signal, by_default, nullptr, sizeof(uint64_t));
  // A killed evictd ends no program at its timeout. The kernel sends it when the thread that waits has ended.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != program->parent) _exit(kNotStarted);
  setsid();
  setpriority(PRIO_PROCESS, 0, kPriority);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) static_cast<void>(!write(score, "0", 1));
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  close_range(3, ~0U, 0);  // of a program that started evictd; Linux 5.9
  sigset_t none;
  sigemptyset(&none);
  if (null >= 0 && chdir("/") == 0) {
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(program->arguments[0], program->arguments, program->environment);
  }
  program->error = errno;
  _exit(kNotStarted);
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void ChildPrograms::Start(const std::string& what, const std::shared_ptr<void>& state, std::function<void()> body) {
  running_.erase(std::remove_if(running_.begin(), running_.end(), [](const auto& child) { return child.expired(); }),
                 running_.end());
  if (running_.size() >= kMaximum) throw SystemError(EAGAIN, "clone", what);
  StartDetachedThread("evictd-child", std::move(body));
  running_.push_back(state);
}

pid_t StartSharing(int (*body)(void*), void* argument) {
  const std::unique_ptr<std::max_align_t[]> stack(new std::max_align_t[kStackBytes / sizeof(std::max_align_t)]);
  void* const top = stack.get() + kStackBytes / sizeof(std::max_align_t);
  return clone(body, top, CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
}

void NotifyUntilHeard(Waker* waker) {
  while (!waker->Notify()) std::this_thread::sleep_for(kRetry);
}

ChildProgram::ChildProgram(Command command, ChildPrograms* children)
    : state_(std::make_shared<State>(std::move(command), children->waker())) {
  children->Start(state_->command.arguments[0], state_, [state = state_] { Run(state.get()); });
}

ChildProgram::~ChildProgram() { state_->Kill(); }

bool ChildProgram::TakeDone(End* end) {
  if (!state_->done.exchange(false)) return false;
  *end = state_->end;
  return true;
}

void ChildProgram::Run(State* shared) {
  State& state = *shared;
  const std::vector<char*> arguments = Pointers(&state.command.arguments);
  const std::vector<char*> environment = Pointers(&state.command.environment);
  Program program = {getpid(), arguments.data(), environment.data(), &state.pid, 0};
  const pid_t child = StartSharing(Exec, &program);
  state.end.error = child < 0 ? errno : program.error;
  if (child > 0) {
    bool cancelled = false;
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      cancelled = state.cancelled;
    }
    if (cancelled) state.Kill();  // the child did not exist yet
    siginfo_t found;
    while (waitid(P_PID, static_cast<id_t>(child), &found, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    const std::lock_guard<std::mutex> lock(state.mutex);
    kill(-child, SIGKILL);  // what it has started
    int status = 0;
    waitpid(child, &status, 0);
    state.pid = 0;
    state.end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    state.end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  state.done = true;
  NotifyUntilHeard(state.waker.get());
}

}  // namespace evictd
