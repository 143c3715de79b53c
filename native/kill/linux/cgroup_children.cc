#include "kill/linux/cgroup_children.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "system/linux/directory_stream.h"

namespace evictd {

namespace {

// kernfs counts subdirectories in a directory's link count: 2 means none, and saves listing dozens of control files.
bool HasChildren(int directory) {
  struct stat status = {};
  return fstat(directory, &status) == 0 && status.st_nlink != 2;
}

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
  const DirectoryStream stream = OpenDirectoryStream(directory, ".");
  if (!stream) return HasVanished(errno) ? 0 : errno;
  int first_error = 0;
  while (const dirent* entry = readdir(stream.get())) {
    if (IsDots(entry->d_name) || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
    const int error = Visit(directory, entry->d_name, visit);
    if (first_error == 0) first_error = error;
  }
  return first_error;
}

}  // namespace evictd
