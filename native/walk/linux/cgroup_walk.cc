#include "walk/linux/cgroup_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace evictd {

namespace {

constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr size_t kEntriesBytes = 4 * 1024;

}  // namespace

bool HasVanished(int error) { return error == ENOENT || error == ENODEV; }

CgroupWalk::Pass CgroupWalk::Run(size_t most, const Visit& visit) {
  Pass pass;
  error_ = 0;
  for (size_t visited = 0; visited < most && !pass.complete; visited++) {
    const bool is_root = IsAtRoot();
    const int directory = Next();
    if (directory < 0) {
      pass.complete = true;
    } else if (visit(directory, is_root)) {
      is_empty_ = false;
    }
  }
  if (!pass.complete) pass.complete = !Pause();
  if (pass.complete) {
    empty_rounds_ = is_empty_ ? empty_rounds_ + 1 : 0;
    is_empty_ = true;
  }
  pass.error = error_;
  return pass;
}

int CgroupWalk::Next() {
  if (IsAtRoot()) return visited_ = root_;
  Descend();
  while (!levels_.empty()) {
    const char* const name = NextChild();
    if (name == nullptr) {
      if (!Leave()) levels_.clear();
      continue;
    }
    child_.Reset(openat(levels_.back().directory.get(), name, kOpenFlags));
    if (child_) return visited_ = child_.get();
    if (!HasVanished(errno) && errno != ENOTDIR && errno != ELOOP) Failed(errno);
  }
  return -1;
}

void CgroupWalk::Descend() {
  if (visited_ < 0) return;
  const int directory = std::exchange(visited_, -1);
  UniqueFd opened = std::move(child_);
  struct stat status = {};
  if (fstat(directory, &status) != 0) {
    Failed(errno);
    return;
  }
  // kernfs counts subdirectories in a directory's link count: 2 means none, and saves listing dozens of control files.
  if (status.st_nlink == 2) return;
  // Not dup: the position in the listing belongs to the open file.
  if (directory == root_) opened.Reset(openat(root_, ".", kOpenFlags));
  if (!opened) {
    if (!HasVanished(errno)) Failed(errno);
    return;
  }
  if (levels_.size() >= kOpenLevels) {
    Level& above = levels_[levels_.size() - kOpenLevels];
    above.directory.Reset();
    above.entries.Drop();
  }
  levels_.push_back({std::move(opened), status.st_ino, DirectoryEntries(kEntriesBytes)});
}

const char* CgroupWalk::NextChild() {
  Level& level = levels_.back();
  for (;;) {
    const char* const name = level.entries.Next(level.directory.get());
    if (name == nullptr) {
      if (errno != 0 && !HasVanished(errno)) Failed(errno);
      return nullptr;
    }
    if (level.entries.type() == DT_DIR || level.entries.type() == DT_UNKNOWN) return name;
  }
}

bool CgroupWalk::Leave() {
  const Level left = std::move(levels_.back());
  levels_.pop_back();
  if (levels_.empty() || levels_.back().directory) return true;
  Level& level = levels_.back();
  UniqueFd above(levels_.size() == 1 ? openat(root_, ".", kOpenFlags) : openat(left.directory.get(), "..", kOpenFlags));
  struct stat status = {};
  if (!above || fstat(above.get(), &status) != 0 || lseek(above.get(), level.entries.position(), SEEK_SET) < 0) {
    Failed(errno);
    return false;
  }
  if (status.st_ino != level.inode) {
    Failed(EAGAIN);
    return false;
  }
  level.directory = std::move(above);
  return true;
}

bool CgroupWalk::Pause() {
  Descend();
  if (levels_.empty()) return false;
  for (Level& level : levels_) level.entries.Drop();
  for (size_t level = 0; level + 1 < levels_.size(); level++) levels_[level].directory.Reset();
  const Level& deepest = levels_.back();
  lseek(deepest.directory.get(), deepest.entries.position(), SEEK_SET);
  return true;
}

void CgroupWalk::Failed(int error) {
  if (error_ == 0) error_ = error;
  is_empty_ = false;
}

}  // namespace evictd
