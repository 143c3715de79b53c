#include "kill/linux/cgroup_children.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "system/linux/unique_fd.h"

namespace evictd {

namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

// kernfs counts subdirectories in a directory's link count: 2 means none, and saves listing dozens of control files.
bool HasChildren(int directory) {
  struct stat status = {};
  return fstat(directory, &status) == 0 && status.st_nlink != 2;
}

// By name: a cgroup's name may begin with a dot.
bool IsDots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

int Visit(int parent, const char* name, const std::function<int(int)>& visit) {
  const UniqueFd child(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!child) return HasVanished(errno) || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
  return visit(child.get());
}

}  // namespace

bool HasVanished(int error) { return error == ENOENT || error == ENODEV; }

int VisitChildren(int directory, const std::function<int(int child)>& visit) {
  if (!HasChildren(directory)) return 0;
  // Not dup: the position in the listing belongs to the open file.
  const int listing = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return HasVanished(errno) ? 0 : errno;
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(listing));
  if (!stream) {
    const int error = errno;
    UniqueFd(listing).Reset();
    return error;
  }
  int first_error = 0;
  while (const dirent* entry = readdir(stream.get())) {
    if (IsDots(entry->d_name) || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
    const int error = Visit(directory, entry->d_name, visit);
    if (first_error == 0) first_error = error;
  }
  return first_error;
}

}  // namespace evictd
