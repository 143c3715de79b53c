#include "walk/linux/directory_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace evictd {

namespace {

constexpr uint64_t kBlock = 512;  // of stx_blocks on every filesystem
constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOATIME;
// DONT_SYNC: a dead mount below must not be contacted only to learn that it is another filesystem.
constexpr int kStatxFlags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
constexpr unsigned kStatxMask = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS;

// O_NOATIME is for the owner only.
int OpenDirectory(int parent, const char* name) {
  const int directory = openat(parent, name, kOpenFlags);
  return directory >= 0 || errno != EPERM ? directory : openat(parent, name, kOpenFlags & ~O_NOATIME);
}

int Statx(int directory, const char* name, struct statx* status) {
  return statx(directory, name, kStatxFlags, kStatxMask | STATX_MNT_ID, status);
}

uint64_t DeviceOf(const struct statx& status) { return makedev(status.stx_dev_major, status.stx_dev_minor); }

// 0 before Linux 5.8; there a bind mount of the same filesystem is walked too.
uint64_t MountOf(const struct statx& status) { return (status.stx_mask & STATX_MNT_ID) != 0 ? status.stx_mnt_id : 0; }

}  // namespace

DirectoryWalk::Usage DirectoryWalk::Run(const std::string& path, const std::atomic<bool>& cancelled) {
  usage_ = Usage();
  levels_.clear();
  linked_.clear();
  struct statx status = {};
  // The root may be a symbolic link: the caller named it.
  UniqueFd root(open(path.c_str(), kOpenFlags & ~(O_NOFOLLOW | O_NOATIME)));
  if (!root || Statx(root.get(), "", &status) != 0) {
    Failed(errno);
    return usage_;
  }
  device_ = DeviceOf(status);
  mount_ = MountOf(status);
  usage_.device = device_;
  usage_.inode = status.stx_ino;
  usage_.bytes = status.stx_blocks * kBlock;
  usage_.inodes = 1;
  Enter(std::move(root), status.stx_ino);
  while (!levels_.empty()) {
    if (cancelled || ShouldStop(usage_)) return usage_;
    const char* const name = Next();
    if (name == nullptr) {
      const bool is_root = levels_.size() == 1;
      if (!Leave()) return usage_;
      if (!is_root) Left(usage_);
      continue;
    }
    const int directory = levels_.back().directory.get();
    if (!Count(directory, name)) continue;
    if (levels_.size() >= kMostLevels) {
      Failed(ENAMETOOLONG);
      continue;
    }
    UniqueFd below(OpenDirectory(directory, name));
    // Again, by the descriptor: it may be another directory or filesystem by now.
    if (!below || Statx(below.get(), "", &status) != 0) {
      if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) Failed(errno);
    } else if (DeviceOf(status) == device_ && MountOf(status) == mount_) {
      // Called before Enter, which may drop the entries that hold the name.
      Entered(name, status.stx_blocks * kBlock, usage_);
      Enter(std::move(below), status.stx_ino);
    }
  }
  usage_.complete = true;
  return usage_;
}

bool DirectoryWalk::Count(int directory, const char* name) {
  struct statx status = {};
  if (Statx(directory, name, &status) != 0) {
    if (errno != ENOENT) Failed(errno);
    return false;
  }
  if (DeviceOf(status) != device_ || MountOf(status) != mount_) return false;
  const bool is_directory = S_ISDIR(status.stx_mode);
  if (!is_directory && status.stx_nlink > 1) {
    const bool is_known =
        linked_.size() < kMostLinked ? !linked_.insert(status.stx_ino).second : linked_.count(status.stx_ino) != 0;
    if (is_known) return false;
  }
  usage_.bytes += status.stx_blocks * kBlock;
  usage_.inodes++;
  return is_directory;
}

void DirectoryWalk::Enter(UniqueFd directory, uint64_t inode) {
  if (levels_.size() >= kOpenLevels) {
    Level& above = levels_[levels_.size() - kOpenLevels];
    above.directory.Reset();
    above.entries.Drop();
  }
  Level entered;
  entered.directory = std::move(directory);
  entered.inode = inode;
  levels_.push_back(std::move(entered));
}

const char* DirectoryWalk::Next() {
  Level& level = levels_.back();
  const char* const name = level.entries.Next(level.directory.get());
  if (name == nullptr && errno != 0) Failed(errno);
  return name;
}

bool DirectoryWalk::Leave() {
  Level left = std::move(levels_.back());
  levels_.pop_back();
  if (levels_.empty() || levels_.back().directory) return true;
  Level& level = levels_.back();
  struct statx status = {};
  UniqueFd above(OpenDirectory(left.directory.get(), ".."));
  if (!above || Statx(above.get(), "", &status) != 0 || lseek(above.get(), level.entries.position(), SEEK_SET) < 0) {
    Failed(errno);
    return false;
  }
  if (status.stx_ino != level.inode || DeviceOf(status) != device_) {
    Failed(ESTALE);
    return false;
  }
  level.directory = std::move(above);
  return true;
}

void DirectoryWalk::Failed(int error) {
  usage_.errors++;
  if (usage_.first_error == 0) usage_.first_error = error;
}

}  // namespace evictd
