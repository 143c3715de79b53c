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
  State(Work done_by, std::shared_ptr<Bell> rung) : work(std::move(done_by)), bell(std::move(rung)) {}

  const Work work;
  const std::shared_ptr<Bell> bell;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> done{false};
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

BackgroundWalk::BackgroundWalk(const std::string& what, Work work, BackgroundWalks* walks) {
  auto& running = walks->running_;
  running.erase(std::remove_if(running.begin(), running.end(), [](const auto& walk) { return walk.expired(); }),
                running.end());
  if (running.size() >= BackgroundWalks::kMaximum) throw SystemError(EAGAIN, "walk", what);
  state_ = std::make_shared<State>(std::move(work), walks->bell_);
  StartDetachedThread("evictd-walk", [state = state_] { Run(state.get()); });
  running.push_back(state_);
}

BackgroundWalk::~BackgroundWalk() { state_->cancelled = true; }

bool BackgroundWalk::TakeDone() { return state_->done.exchange(false); }

void BackgroundWalk::Run(State* shared) {
  State& state = *shared;
  StandBack();
  try {
    state.work(state.cancelled);
  } catch (...) {  // a tree may be deeper than there is memory; out of a thread it would end the process
  }
  state.done = true;
  // A ring that fails is repeated: nobody else would.
  while (!state.cancelled && !state.bell->Ring()) std::this_thread::sleep_for(kRingAgain);
}

}  // namespace evictd
