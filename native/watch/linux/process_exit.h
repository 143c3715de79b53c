#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// The exit of many processes, each held by a pidfd: fires when some have exited, gone when all have. The pidfds are in
// a nested epoll set, which is one descriptor for the waiter.
class ProcessExit : public WatchSource {
 public:
  // Processes that are gone count as exited. Throws SystemError, also if processes exist but none can be held.
  explicit ProcessExit(const std::vector<pid_t>& pids);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

  // Any thread: held processes that have not exited.
  size_t remaining() const { return remaining_; }
  // Processes that could not be held (no descriptors, or not in this pid namespace): their exit is not seen.
  size_t missed() const { return missed_; }

 private:
  UniqueFd epoll_;
  UniqueFd none_;  // readable if no process was left at the start
  std::vector<UniqueFd> pidfds_;
  std::atomic<size_t> remaining_{0};
  size_t missed_ = 0;
};

}  // namespace evictd
