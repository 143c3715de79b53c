#pragma once

#include <cstdint>
#include <memory>

#include "system/linux/unique_fd.h"

namespace evictd {

// Releases the memory of dying processes by process_mrelease (Linux 5.15) before they are scheduled: a process whose
// cgroup has used up its CPU quota dies only in its next period. The call takes as long as freeing the memory and waits
// for the victim's mmap lock, so it runs on a separate, detached thread that starts in the constructor and shares its
// state.
class MemoryReaper {
 public:
  struct Counts {
    uint64_t released = 0;  // processes whose memory was released, or already gone
    int error = 0;          // the last failure except ESRCH (gone) and EINVAL (a live process shares the memory)
  };

  // Throws SystemError (EAGAIN: no thread).
  MemoryReaper();
  // Does not wait; drops queued processes.
  ~MemoryReaper();
  MemoryReaper(const MemoryReaper&) = delete;
  MemoryReaper& operator=(const MemoryReaper&) = delete;

  // Never blocks. Without room it closes the pidfd: a process that is still alive returns with the next signal.
  void Take(UniqueFd pidfd);

  Counts counts() const;

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

}  // namespace evictd
