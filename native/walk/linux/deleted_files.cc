#include "walk/linux/deleted_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "system/linux/directory_stream.h"

namespace evictd {

namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr uint64_t kBlock = 512;  // of stx_blocks on every filesystem
// DONT_SYNC: a dead mount must not be contacted only to learn that it is another filesystem.
constexpr int kStatxFlags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
constexpr unsigned kStatxMask = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS;

bool IsDeleted(std::string_view path) {
  return path.size() >= kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted;
}

bool HasEnded(int error) { return error == ENOENT || error == ESRCH; }

}  // namespace

DeletedFiles::Result DeletedFiles::Run(const std::atomic<bool>& cancelled) {
  Result result;
  files_.clear();
  holders_ = 0;
  overflown_ = false;
  struct statx status = {};
  if (statx(AT_FDCWD, path_.c_str(), kStatxFlags, kStatxMask, &status) != 0) return result;
  device_ = makedev(status.stx_dev_major, status.stx_dev_minor);
  result.device = device_;
  const DirectoryStream processes = OpenDirectoryStream(AT_FDCWD, "/proc");
  if (!processes) return result;
  while (const dirent* const entry = readdir(processes.get())) {
    if (cancelled) return result;
    char* end = nullptr;
    const long pid = strtol(entry->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    if (!ReadProcess(dirfd(processes.get()), static_cast<pid_t>(pid), cancelled)) result.unreadable++;
  }
  std::map<std::vector<pid_t>, Group> groups;
  for (auto& [inode, file] : files_) {
    Group& group = groups[file.holders];
    group.bytes += file.bytes;
    group.inodes++;
  }
  for (auto& [holders, group] : groups) {
    group.holders = holders;
    result.groups.push_back(std::move(group));
  }
  result.complete = !cancelled && !overflown_;
  return result;
}

bool DeletedFiles::ReadProcess(int proc, pid_t pid, const std::atomic<bool>& cancelled) {
  const DirectoryStream descriptors = OpenDirectoryStream(proc, (std::to_string(pid) + "/fd").c_str());
  if (!descriptors) return HasEnded(errno);
  bool all = true;
  while (const dirent* const entry = readdir(descriptors.get())) {
    if (cancelled) return all;
    if (entry->d_name[0] != '.' && !ReadDescriptor(dirfd(descriptors.get()), entry->d_name, pid)) all = false;
  }
  return all;
}

bool DeletedFiles::ReadDescriptor(int descriptors, const char* name, pid_t pid) {
  // The link's text first: a named file, wherever it is, needs no further call.
  std::array<char, 4096> target = {};
  const ssize_t length = readlinkat(descriptors, name, target.data(), target.size());
  if (length < 0 && errno != ENAMETOOLONG) return HasEnded(errno);
  if (length >= 0 && !IsDeleted(std::string_view(target.data(), static_cast<size_t>(length)))) return true;
  struct statx status = {};
  if (statx(descriptors, name, kStatxFlags, kStatxMask, &status) != 0) return HasEnded(errno);
  // A name may end in " (deleted)", and an unlinked file may have another link.
  if (status.stx_nlink != 0 || !S_ISREG(status.stx_mode)) return true;
  if (makedev(status.stx_dev_major, status.stx_dev_minor) != device_) return true;
  const auto known = files_.find(status.stx_ino);
  const bool is_new = known == files_.end();
  if (!is_new && known->second.holders.back() == pid) return true;  // processes are read one after another
  if (holders_ >= most_holders_ || (is_new && (overflown_ || files_.size() >= kMostFiles))) {
    overflown_ = true;
    if (!is_new) files_.erase(known);
    return true;
  }
  File& file = is_new ? files_[status.stx_ino] : known->second;
  file.bytes = status.stx_blocks * kBlock;
  file.holders.push_back(pid);
  holders_++;
  return true;
}

}  // namespace evictd
