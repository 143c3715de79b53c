#pragma once

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

 private:
  friend class ChildProgram;

  const std::shared_ptr<Waker> waker_;
  std::vector<std::weak_ptr<void>> running_;
};

// A program as a child of this process. A detached thread starts it and waits for it, because exec waits for the
// filesystem of the program, which may hang. The child has a session and process group of its own, / as directory,
// /dev/null as input and output, priority 10, oom_score_adj 0 and no blocked or ignored signal.
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
