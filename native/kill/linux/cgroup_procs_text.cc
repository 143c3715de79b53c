#include "kill/linux/cgroup_procs_text.h"

#include <limits>

namespace evictd {

void CgroupProcsText::Append(std::string_view piece, std::vector<pid_t>* pids) {
  for (const char character : piece) {
    if (character == '\n') {
      if (line_ == Line::kNumber) pids->push_back(static_cast<pid_t>(number_));
      line_ = Line::kEmpty;
      number_ = 0;
    } else if (character < '0' || character > '9' || line_ == Line::kBad) {
      line_ = Line::kBad;
    } else {
      number_ = number_ * 10 + (character - '0');
      line_ = number_ <= std::numeric_limits<pid_t>::max() ? Line::kNumber : Line::kBad;
    }
  }
}

}  // namespace evictd
