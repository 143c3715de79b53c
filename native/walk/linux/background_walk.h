#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "watch/waker.h"

namespace evictd {

// The running walks of one environment and kind, including cancelled ones that hang: at most kMaximum, one thread each.
// JavaScript's thread only.
class BackgroundWalks {
 public:
  static constexpr size_t kMaximum = 16;

  explicit BackgroundWalks(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {}

 private:
  friend class BackgroundWalk;

  const std::shared_ptr<Waker> waker_;
  std::vector<std::weak_ptr<void>> running_;
};

// One walk on a detached thread with the lowest priority for processor and disk. A walk on a dead mount never ends, so
// it shares its state.
class BackgroundWalk {
 public:
  // An exception ends the work.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  // Throws SystemError (EAGAIN: kMaximum walks run, or no thread). `what`: for that error.
  BackgroundWalk(const std::string& what, Work work, BackgroundWalks* walks);
  // Cancels without waiting.
  ~BackgroundWalk();
  BackgroundWalk(const BackgroundWalk&) = delete;
  BackgroundWalk& operator=(const BackgroundWalk&) = delete;

  // Returns true once, after the work.
  bool TakeDone();

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

// A walk with a result, which is default-constructed if the work throws.
template <typename Result>
class BackgroundReading {
 public:
  using Work = std::function<Result(const std::atomic<bool>& cancelled)>;

  BackgroundReading(const std::string& what, Work work, BackgroundWalks* walks)
      : result_(std::make_shared<Result>()),
        walk_(
            what, [result = result_, work = std::move(work)](const auto& cancelled) { *result = work(cancelled); },
            walks) {}

  // Returns true once, after the walk.
  bool TakeDone(Result* result) {
    if (!walk_.TakeDone()) return false;
    *result = std::move(*result_);
    return true;
  }

 private:
  const std::shared_ptr<Result> result_;
  BackgroundWalk walk_;
};

}  // namespace evictd
