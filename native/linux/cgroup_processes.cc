#include "linux/cgroup_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "linux/cgroup_procs_text.h"
#include "linux/unique_fd.h"

namespace evictd {

namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

bool Vanished(int error) { return error == ENOENT || error == ENODEV; }

int ReadProcesses(int directory, std::vector<pid_t>* pids) {
  const UniqueFd file(openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return Vanished(errno) ? 0 : errno;
  std::array<char, 16 * 1024> piece;
  CgroupProcsText text;
  for (;;) {
    const ssize_t length = read(file.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return Vanished(errno) ? 0 : errno;
    if (length == 0) return 0;
    text.Append(std::string_view(piece.data(), static_cast<size_t>(length)), pids);
  }
}

// kernfs counts subdirectories in the link count of a directory: 2 means none, and spares listing dozens of control
// files.
bool HasChildren(int directory) {
  struct stat status = {};
  return fstat(directory, &status) == 0 && status.st_nlink != 2;
}

int AppendChildren(int directory, std::vector<pid_t>* pids);

int AppendChild(int parent, const char* name, std::vector<pid_t>* pids) {
  const UniqueFd child(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!child) return Vanished(errno) || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
  const int error = ReadProcesses(child.get(), pids);
  const int below = AppendChildren(child.get(), pids);
  // A threaded cgroup has no list of its own: its processes stand in the list of the domain above it, which was read
  // before.
  return error != 0 && error != EOPNOTSUPP ? error : below;
}

int AppendChildren(int directory, std::vector<pid_t>* pids) {
  if (!HasChildren(directory)) return 0;
  // A new open, not dup: the position in the listing belongs to the open file.
  const int listing = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return Vanished(errno) ? 0 : errno;
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(listing));
  if (!stream) {
    const int error = errno;
    UniqueFd(listing).Reset();
    return error;
  }
  int first_error = 0;
  while (const dirent* entry = readdir(stream.get())) {
    if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
    const int error = AppendChild(directory, entry->d_name, pids);
    if (first_error == 0) first_error = error;
  }
  return first_error;
}

}  // namespace

int AppendProcesses(int directory, std::vector<pid_t>* pids) {
  const int error = ReadProcesses(directory, pids);
  const int below = AppendChildren(directory, pids);
  return error != 0 ? error : below;
}

}  // namespace evictd
