#include "walk/linux/filesystem_tree.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace evictd {

namespace {

// entries between two clock reads
constexpr uint64_t kClockEvery = 64;

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The highest ancestor on the same device; "" and errno on failure.
std::string RootOf(const std::string& path) {
  char resolved[PATH_MAX];
  struct stat status = {};
  if (realpath(path.c_str(), resolved) == nullptr || stat(resolved, &status) != 0) return "";
  const dev_t device = status.st_dev;
  std::string root = S_ISDIR(status.st_mode) ? resolved : ParentOf(resolved);
  while (root != "/") {
    const std::string above = ParentOf(root);
    if (stat(above.c_str(), &status) != 0 || status.st_dev != device) break;
    root = above;
  }
  return root;
}

uint64_t PartOf(uint64_t used, uint64_t parts) { return std::max<uint64_t>(used / std::max<uint64_t>(parts, 1), 1); }

}  // namespace

FilesystemTree::Result FilesystemTree::Run(const std::atomic<bool>& cancelled) {
  Result result;
  until_ = std::chrono::steady_clock::now() + limits_.time;
  const std::string root = RootOf(path_);
  struct statvfs filesystem = {};
  if (root.empty() || statvfs(root.c_str(), &filesystem) != 0) {
    result.errors = 1;
    result.first_error = errno;
    return result;
  }
  least_bytes_ = PartOf((filesystem.f_blocks - filesystem.f_bfree) * filesystem.f_frsize, limits_.parts);
  // A filesystem that does not count inodes selects no directory by them.
  least_inodes_ = filesystem.f_files == 0 ? UINT64_MAX : PartOf(filesystem.f_files - filesystem.f_ffree, limits_.parts);
  current_ = root == "/" ? "" : root;
  const Usage usage = DirectoryWalk::Run(root, cancelled);
  deeper_ = 0;
  while (!ancestors_.empty()) Left(usage);  // unfinished directories count as far as they were walked
  result.directories.push_back({root, usage.bytes, usage.inodes});
  std::move(found_.begin(), found_.end(), std::back_inserter(result.directories));
  result.errors = usage.errors;
  result.first_error = usage.first_error;
  result.complete = usage.complete;
  result.device = usage.device;
  return result;
}

void FilesystemTree::Entered(const char* name, uint64_t own_bytes, const Usage& so_far) {
  if (ancestors_.size() == limits_.depth) {
    deeper_++;
    return;
  }
  ancestors_.push_back({current_.size(), so_far.bytes - own_bytes, so_far.inodes - 1});
  current_.append("/").append(name);
}

void FilesystemTree::Left(const Usage& so_far) {
  if (deeper_ > 0) {
    deeper_--;
    return;
  }
  const Ancestor above = ancestors_.back();
  ancestors_.pop_back();
  const uint64_t bytes = so_far.bytes - above.bytes;
  const uint64_t inodes = so_far.inodes - above.inodes;
  if ((bytes >= least_bytes_ || inodes >= least_inodes_) && found_.size() < kMostDirectories) {
    found_.push_back({current_, bytes, inodes});
  }
  current_.resize(above.path_length);
}

bool FilesystemTree::ShouldStop(const Usage&) {
  if (visited_ >= limits_.entries) return true;
  return visited_++ % kClockEvery == 0 && std::chrono::steady_clock::now() >= until_;
}

}  // namespace evictd
