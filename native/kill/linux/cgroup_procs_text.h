#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace evictd {

// The text of cgroup.procs, a pid a line, in pieces cut anywhere. Only whole lines count: of a list that was cut off
// the beginning of a pid is another process's pid.
class CgroupProcsText {
 public:
  // Appends the pids of the lines that end in `piece`. A line that is no pid is nobody to signal: it is left out.
  void Append(std::string_view piece, std::vector<pid_t>* pids);

 private:
  enum class Line { kEmpty, kNumber, kBad };

  Line line_ = Line::kEmpty;  // what has been seen of a line that goes on in the next piece
  int64_t number_ = 0;
};

}  // namespace evictd
