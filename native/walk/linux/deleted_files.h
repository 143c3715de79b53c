#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace evictd {

// What processes hold open on a filesystem though it is deleted: its space comes back when the last of them closes it
// or ends. Regular files without a name, each inode once, by the descriptors of all processes; what is only mapped is
// not seen.
class DeletedFiles {
 public:
  // Files that have the same holders, together.
  struct Group {
    std::set<pid_t> holders;
    uint64_t bytes = 0;  // allocated blocks
    uint64_t inodes = 0;
  };
  struct Result {
    std::vector<Group> groups;
    // Processes of which not all descriptors could be looked at: what they hold is not in it. Who ended meanwhile is
    // none.
    uint64_t unreadable = 0;
    // False: cancelled, the filesystem is not there, /proc cannot be listed, or there are more than kMostFiles.
    bool complete = false;
    // st_dev of the filesystem; 0: it is not there.
    uint64_t device = 0;
  };

  static constexpr size_t kMostFiles = 100'000;

  // `path`: any on the filesystem.
  explicit DeletedFiles(std::string path) : path_(std::move(path)) {}

  // Until done, or until `cancelled`, which is asked at each descriptor.
  Result Run(const std::atomic<bool>& cancelled);

 private:
  struct File {
    uint64_t bytes = 0;
    std::set<pid_t> holders;
  };

  // False: not all of its descriptors could be looked at.
  bool LookAt(int proc, pid_t pid, const std::atomic<bool>& cancelled);
  bool LookAtDescriptor(int descriptors, const char* name, pid_t pid);

  const std::string path_;
  uint64_t device_ = 0;
  std::map<uint64_t, File> files_;  // by inode
  bool overflown_ = false;
};

}  // namespace evictd
