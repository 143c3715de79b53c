#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "watch/waker.h"

namespace evictd {

// The walks of one environment and kind that are under way, those included that were cancelled and hang: at most
// kMaximum, a thread each. JavaScript's thread only.
class BackgroundWalks {
 public:
  static constexpr size_t kMaximum = 16;

  explicit BackgroundWalks(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}

 private:
  friend class BackgroundWalk;

  const std::shared_ptr<Bell> bell_;
  std::vector<std::weak_ptr<void>> running_;
};

// One walk, on a thread of its own with the lowest priority for processor and disk. Like the thread of statfs it is
// detached and shares its state, because what is on a dead mount never answers.
class BackgroundWalk {
 public:
  // Where it throws, as where no memory is left, it is done.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  // Throws SystemError (EAGAIN: kMaximum walks are under way, or no thread can be made). `what`: for that error.
  BackgroundWalk(const std::string& what, Work work, BackgroundWalks* walks);
  // Cancels; does not wait.
  ~BackgroundWalk();
  BackgroundWalk(const BackgroundWalk&) = delete;
  BackgroundWalk& operator=(const BackgroundWalk&) = delete;

  // True once, when the work is done.
  bool TakeDone();

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

// One with a result, which is the thread's until it is done; as it was made where the work has thrown.
template <typename Result>
class BackgroundReading {
 public:
  using Work = std::function<Result(const std::atomic<bool>& cancelled)>;

  BackgroundReading(const std::string& what, Work work, BackgroundWalks* walks)
      : result_(std::make_shared<Result>()),
        walk_(
            what, [result = result_, work = std::move(work)](const auto& cancelled) { *result = work(cancelled); },
            walks) {}

  // True once, when the walk is over.
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
