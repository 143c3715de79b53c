#include "kill/linux/cgroup_processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "kill/linux/cgroup_children.h"
#include "system/linux/unique_fd.h"

namespace evictd {

namespace {

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

int AppendChildren(int directory, std::vector<pid_t>* pids) {
  return VisitChildren(directory, [pids](int child) {
    const int error = ReadProcesses(child, pids);
    const int below = AppendChildren(child, pids);
    // A threaded cgroup has no list: its processes are listed by the domain above it, which was read before.
    return error != 0 && error != EOPNOTSUPP ? error : below;
  });
}

}  // namespace

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

int AppendProcesses(int directory, std::vector<pid_t>* pids) {
  const int error = ReadProcesses(directory, pids);
  const int below = AppendChildren(directory, pids);
  return error != 0 ? error : below;
}

}  // namespace evictd
