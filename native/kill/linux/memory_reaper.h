#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "system/linux/unique_fd.h"

namespace evictd {

// Takes the memory of dying processes back by process_mrelease (Linux 5.15), without waiting for them to be scheduled:
// one whose cgroup has used up its share of the processor dies when it gets the next. The call lasts as long as freeing
// the memory does, and waits for the victim's mmap lock, so it is made on a thread of its own. That is started at
// construction and detached, as that of FilesystemStats: whoever is last frees the state.
class MemoryReaper {
 public:
  struct Counts {
    uint64_t released = 0;  // processes whose memory was taken back, or was gone already
    int error = 0;  // the last failure other than ESRCH and EINVAL (it is gone; somebody alive shares its memory)
  };

  // Throws SystemError (EAGAIN: no thread).
  MemoryReaper();
  // Does not wait; what was not begun is dropped.
  ~MemoryReaper();
  MemoryReaper(const MemoryReaper&) = delete;
  MemoryReaper& operator=(const MemoryReaper&) = delete;

  // Never blocks. A pidfd that finds no room is closed: whoever is still there at the next signal comes again.
  void Take(UniqueFd pidfd);

  Counts counts() const;

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

}  // namespace evictd
