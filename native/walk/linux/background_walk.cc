#include "walk/linux/background_walk.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "system/detached_thread.h"
#include "system/system_error.h"

namespace evictd {

struct BackgroundWalk::State {
  State(Work done_by, std::shared_ptr<Waker> to_notify) : work(std::move(done_by)), waker(std::move(to_notify)) {}

  const Work work;
  const std::shared_ptr<Waker> waker;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> done{false};
};

namespace {

constexpr std::chrono::milliseconds kRetry(10);
constexpr int kLowestPriority = 19;
// linux/ioprio.h, which Debian 12 does not always install.
constexpr int kIoprioWhoProcess = 1;
constexpr int kIoprioIdle = 3 << 13;

// Lowers the priority of the calling thread. Failures do not matter.
void LowerPriority() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowestPriority);
  syscall(SYS_ioprio_set, kIoprioWhoProcess, 0, kIoprioIdle);
}

}  // namespace

BackgroundWalk::BackgroundWalk(const std::string& what, Work work, BackgroundWalks* walks) {
  auto& running = walks->running_;
  running.erase(std::remove_if(running.begin(), running.end(), [](const auto& walk) { return walk.expired(); }),
                running.end());
  if (running.size() >= BackgroundWalks::kMaximum) throw SystemError(EAGAIN, "walk", what);
  state_ = std::make_shared<State>(std::move(work), walks->waker_);
  StartDetachedThread("evictd-walk", [state = state_] { Run(state.get()); });
  running.push_back(state_);
}

BackgroundWalk::~BackgroundWalk() { state_->cancelled = true; }

bool BackgroundWalk::TakeDone() { return state_->done.exchange(false); }

void BackgroundWalk::Run(State* shared) {
  State& state = *shared;
  LowerPriority();
  try {
    state.work(state.cancelled);
  } catch (...) {  // memory may not suffice for a deep tree; an exception would end the process
  }
  state.done = true;
  // A failed notification is repeated: no other thread would send it.
  while (!state.cancelled && !state.waker->Notify()) std::this_thread::sleep_for(kRetry);
}

}  // namespace evictd
