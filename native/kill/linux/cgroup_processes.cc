#include "kill/linux/cgroup_processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "system/linux/unique_fd.h"
#include "walk/linux/cgroup_walk.h"

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

int ReadProcesses(int directory, std::vector<pid_t>* pids) {
  const UniqueFd file(openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return HasVanished(errno) ? 0 : errno;
  std::array<char, 16 * 1024> piece;
  CgroupProcsText text;
  for (;;) {
    const ssize_t length = read(file.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return HasVanished(errno) ? 0 : errno;
    if (length == 0) return 0;
    text.Append(std::string_view(piece.data(), static_cast<size_t>(length)), pids);
  }
}

}  // namespace evictd
