#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace evictd {

// Parses cgroup.procs, one pid a line, in arbitrary pieces. Only complete lines count: a pid that was cut off is
// another process's pid.
class CgroupProcsText {
 public:
  // Appends the pids of the lines that end in `piece`. Skips lines that are not a pid.
  void Append(std::string_view piece, std::vector<pid_t>* pids);

 private:
  enum class Line { kEmpty, kNumber, kBad };

  Line line_ = Line::kEmpty;  // the state of a line that continues in the next piece
  int64_t number_ = 0;
};

// Appends the pids of one cgroup. Returns 0 or errno; a removed cgroup has none. EOPNOTSUPP: a threaded cgroup, whose
// processes are listed by the domain above it.
//
// Each call opens cgroup.procs anew. On v1 the kernel builds the list at the first read after an open, and a kept
// descriptor reads the cached list (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start).
int ReadProcesses(int directory, std::vector<pid_t>* pids);

}  // namespace evictd
