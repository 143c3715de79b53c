#include "linux/directory_usage.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "common/system_error.h"
#include "linux/thread.h"

namespace evictd {

struct DirectoryUsage::State {
  State(std::string walked, std::shared_ptr<Bell> rung) : path(std::move(walked)), bell(std::move(rung)) {}

  const std::string path;
  const std::shared_ptr<Bell> bell;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> done{false};
  DirectoryWalk::Usage usage;  // the thread's until done
};

namespace {

constexpr std::chrono::milliseconds kRingAgain(10);
constexpr int kLowestPriority = 19;
// linux/ioprio.h, which Debian 12 does not install for everybody.
constexpr int kIoprioWhoProcess = 1;
constexpr int kIoprioIdle = 3 << 13;

// Of the calling thread. That it fails is no reason not to walk.
void StandBack() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowestPriority);
  syscall(SYS_ioprio_set, kIoprioWhoProcess, 0, kIoprioIdle);
}

}  // namespace

DirectoryUsage::DirectoryUsage(std::string path, DirectoryWalks* walks) {
  auto& running = walks->running_;
  running.erase(std::remove_if(running.begin(), running.end(), [](const auto& walk) { return walk.expired(); }),
                running.end());
  if (running.size() >= DirectoryWalks::kMaximum) throw SystemError(EAGAIN, "walk", path);
  state_ = std::make_shared<State>(std::move(path), walks->bell_);
  auto shared = std::make_unique<std::shared_ptr<State>>(state_);
  const pthread_t thread = StartThread("evictd-walk", &Run, shared.get());
  static_cast<void>(shared.release());  // the thread's now
  pthread_detach(thread);
  running.push_back(state_);
}

DirectoryUsage::~DirectoryUsage() { state_->cancelled = true; }

bool DirectoryUsage::TakeDone(DirectoryWalk::Usage* usage) {
  if (!state_->done.exchange(false)) return false;
  *usage = state_->usage;
  return true;
}

void* DirectoryUsage::Run(void* shared) {
  const std::unique_ptr<std::shared_ptr<State>> owned(static_cast<std::shared_ptr<State>*>(shared));
  State& state = **owned;
  StandBack();
  state.usage = DirectoryWalk().Run(state.path, state.cancelled);
  state.done = true;
  // A ring that fails is repeated: nobody else would.
  while (!state.cancelled && !state.bell->Ring()) std::this_thread::sleep_for(kRingAgain);
  return nullptr;
}

}  // namespace evictd
