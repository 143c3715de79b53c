#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "watch/waker.h"

namespace evictd {

// The children of one environment that have not ended. JavaScript's thread only.
class ChildPrograms {
 public:
  static constexpr size_t kMaximum = 16;

  explicit ChildPrograms(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {}

  const std::shared_ptr<Waker>& waker() const { return waker_; }
  // Runs `body`, which makes one child and waits for it, on a detached thread. `state` expires with it. Throws
  // SystemError (EAGAIN: kMaximum of them run, or no thread). `what`: for that error.
  void Start(const std::string& what, const std::shared_ptr<void>& state, std::function<void()> body);

 private:
  const std::shared_ptr<Waker> waker_;
  std::vector<std::weak_ptr<void>> running_;
};

// Runs `body` in a child that shares the memory of this process, and returns its pid, or -1 with errno. Waits until the
// child has called exec or has ended; a signal that ends this process ends the wait too. No copy, and no time limit.
pid_t StartSharing(int (*body)(void*), void* argument);

// Repeats a notification that has failed: no other thread would send it.
void NotifyUntilHeard(Waker* waker);

// A program as a child of this process. A detached thread starts it and waits for it, because exec waits for the
// filesystem of the program, which may hang. The child has a session and process group of its own, / as directory,
// /dev/null as input and output, priority 10, oom_score_adj 0 and no blocked or ignored signal. It ends with this
// process, however this process ends; processes that the child has started continue.
class ChildProgram {
 public:
  struct Command {
    std::vector<std::string> arguments;  // first the path
    std::vector<std::string> environment;
  };
  struct End {
    int error = 0;  // it could not be started
    int exit_code = 0;
    int signal = 0;  // that ended it; 0: none
  };

  // Throws SystemError (EAGAIN: kMaximum children have not ended, or no thread).
  ChildProgram(Command command, ChildPrograms* children);
  // Ends its process group, without waiting.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  // Returns true once, when it has ended. What is left of its process group was ended, too.
  bool TakeDone(End* end);

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

}  // namespace evictd
