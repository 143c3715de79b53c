#include "linux/directory_emptying.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/monotonic_clock.h"
#include "linux/cgroup_processes.h"

namespace evictd {

namespace {

constexpr uint64_t kBlock = 512;  // of st_blocks, whatever the filesystem's own is
// Who lives in the cgroups, and whether all is where it was, is looked at this often, or for half of the time.
constexpr uint64_t kLookNs = 5'000'000;
// A directory in which all could be removed is read again until it is found empty, but no more often than this: some
// filesystems pass over names while others are removed, and somebody may go on making new ones.
constexpr int kPasses = 16;
// DONT_SYNC: what is mounted below and does not answer must not be asked, only to learn that it is another one.
constexpr int kHow = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
constexpr unsigned kWanted = STATX_TYPE | STATX_NLINK | STATX_BLOCKS;
constexpr int kPlaceFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr int kReadFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

bool IsInhabited(const std::string& cgroup) {
  const UniqueFd directory(open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno != ENOENT;
  std::vector<pid_t> pids;
  return AppendProcesses(directory.get(), &pids) != 0 || !pids.empty();
}

}  // namespace

DirectoryEmptying::Result DirectoryEmptying::Run(const std::atomic<bool>& cancelled) {
  result_ = Result();
  begun_ns_ = MonotonicNs();
  look_ns_ = 0;
  if (!Open()) return result_;
  for (;;) {
    if (!MayGoOn(cancelled)) return result_;
    Level& level = levels_.back();
    const char* const name = level.entries.Next(level.directory.get());
    if (name != nullptr) {
      Take(name);
      continue;
    }
    if (errno != 0) {
      Fail("", errno);
    } else if (!level.keeps && level.removed && ++level.passes < kPasses) {
      level.removed = false;
      if (level.entries.Rewind(level.directory.get())) continue;
      Fail("", errno);
    }
    if (levels_.size() == 1) break;
    if (!Leave()) return result_;
  }
  result_.end = End::kDone;
  return result_;
}

bool DirectoryEmptying::Open() {
  result_.end = End::kRefused;
  UniqueFd root(OpenOwnDirectory(order_.path, &result_.error));
  if (!root) return false;
  Level level;
  if (!IdentityOf(root.get(), &level.identity)) {
    result_.error = errno;
    return false;
  }
  if (!(level.identity == order_.identity)) {
    result_.end = End::kReplaced;
    return false;
  }
  if (!MountOf(root.get(), &mount_)) {
    result_.error = EOPNOTSUPP;
    return false;
  }
  Enter(std::move(root), std::move(level));
  return true;
}

bool DirectoryEmptying::MayGoOn(const std::atomic<bool>& cancelled) {
  if (cancelled) {
    result_.end = End::kCancelled;
    return false;
  }
  const uint64_t now_ns = MonotonicNs();
  if (now_ns < look_ns_) return true;
  const bool is_populated = IsPopulated();
  const bool is_beneath = is_populated || IsBeneath();
  const uint64_t looked_ns = MonotonicNs();
  look_ns_ = looked_ns + std::max(kLookNs, looked_ns - now_ns);
  if (is_populated) {
    result_.end = End::kPopulated;
  } else if (!is_beneath) {
    result_.end = End::kMoved;
  } else if (now_ns - begun_ns_ > order_.within_ns) {
    result_.end = End::kLate;
  } else {
    return true;
  }
  return false;
}

bool DirectoryEmptying::IsPopulated() const {
  return std::any_of(order_.cgroups.begin(), order_.cgroups.end(), IsInhabited);
}

// From the deepest level up to the directory, and from the top down to it.
bool DirectoryEmptying::IsBeneath() const {
  UniqueFd above;
  for (size_t index = levels_.size() - 1; index > 0; index--) {
    const int here = levels_[index].directory ? levels_[index].directory.get() : above.get();
    UniqueFd next(openat(here, "..", kPlaceFlags));
    DirectoryIdentity identity;
    if (!next || !IdentityOf(next.get(), &identity) || !(identity == levels_[index - 1].identity)) return false;
    above = std::move(next);
  }
  int error = 0;
  const UniqueFd named(OpenOwnDirectory(order_.path, &error));
  DirectoryIdentity identity;
  return named && IdentityOf(named.get(), &identity) && identity == order_.identity;
}

void DirectoryEmptying::Take(const char* name) {
  Level& level = levels_.back();
  const int directory = level.directory.get();
  struct statx status = {};
  if (statx(directory, name, kHow, kWanted | STATX_MNT_ID, &status) != 0) {
    if (errno != ENOENT) Fail(name, errno);
    return;
  }
  if (!IsHere(directory, name, status)) {
    Fail(name, EXDEV);
    return;
  }
  if (S_ISDIR(status.stx_mode)) {
    EnterDirectory(name);
    return;
  }
  if (unlinkat(directory, name, 0) != 0) {
    if (errno != ENOENT) Fail(name, errno);
    return;
  }
  level.removed = true;
  if (status.stx_nlink != 1) return;
  result_.bytes += status.stx_blocks * kBlock;
  result_.inodes++;
}

// Neither another filesystem nor the same one, mounted there.
bool DirectoryEmptying::IsHere(int directory, const char* name, const struct statx& status) const {
  if (makedev(status.stx_dev_major, status.stx_dev_minor) != order_.identity.device) return false;
  if ((status.stx_mask & STATX_MNT_ID) != 0) return status.stx_mnt_id == mount_;
  const UniqueFd entry(openat(directory, name, kPlaceFlags));
  uint64_t mount = 0;
  return entry && MountOf(entry.get(), &mount) && mount == mount_;
}

void DirectoryEmptying::EnterDirectory(const char* name) {
  UniqueFd below(openat(levels_.back().directory.get(), name, kReadFlags));
  struct stat status = {};
  uint64_t mount = 0;
  if (!below || fstat(below.get(), &status) != 0) {
    if (errno != ENOENT) Fail(name, errno);
    return;
  }
  // By the descriptor: something may have been mounted on it since.
  if (!MountOf(below.get(), &mount) || mount != mount_ || status.st_dev != order_.identity.device) {
    Fail(name, EXDEV);
    return;
  }
  Level level;
  level.identity = {status.st_dev, status.st_ino};
  level.name = name;
  level.bytes = static_cast<uint64_t>(status.st_blocks) * kBlock;
  Enter(std::move(below), std::move(level));
}

void DirectoryEmptying::Enter(UniqueFd directory, Level level) {
  if (levels_.size() >= kOpenLevels) {
    Level& above = levels_[levels_.size() - kOpenLevels];
    above.directory.Reset();
    above.entries.Drop();
  }
  level.directory = std::move(directory);
  levels_.push_back(std::move(level));
}

bool DirectoryEmptying::Leave() {
  const Level left = std::move(levels_.back());
  levels_.pop_back();
  Level& level = levels_.back();
  UniqueFd above(openat(left.directory.get(), "..", kReadFlags));
  DirectoryIdentity identity;
  if (!above && errno != ENOENT) {
    result_.end = End::kRefused;
    result_.error = errno;
    return false;
  }
  if (!above || !IdentityOf(above.get(), &identity) || !(identity == level.identity)) {
    result_.end = End::kMoved;
    return false;
  }
  if (!level.directory) {
    if (lseek(above.get(), level.entries.position(), SEEK_SET) < 0) Fail("", errno);
    level.directory = std::move(above);
  }
  if (left.keeps) {
    level.keeps = true;
  } else if (unlinkat(level.directory.get(), left.name.c_str(), AT_REMOVEDIR) == 0) {
    level.removed = true;
    result_.bytes += left.bytes;
    result_.inodes++;
  } else if (errno != ENOENT) {
    Fail(left.name.c_str(), errno);
  }
  return true;
}

void DirectoryEmptying::Fail(const char* name, int error) {
  levels_.back().keeps = true;
  result_.failed++;
  if (result_.failures.size() >= kNamedFailures) return;
  std::string path;
  for (size_t index = 1; index < levels_.size(); index++) path += levels_[index].name + "/";
  result_.failures.push_back({path + name, error});
}

}  // namespace evictd
