#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evictd {

// Deleted files that processes hold open on a filesystem: their space returns when the last holder closes them or ends.
// Regular files without a link, each inode once, by the descriptors of all processes. Mappings without a descriptor are
// not found.
class DeletedFiles {
 public:
  // Files with the same holders.
  struct Group {
    std::vector<pid_t> holders;  // each once
    uint64_t bytes = 0;          // allocated blocks
    uint64_t inodes = 0;
  };
  struct Result {
    std::vector<Group> groups;
    // Processes with unreadable descriptors, whose files are missing. Does not count ended processes.
    uint64_t unreadable = 0;
    // False: cancelled, no such filesystem, /proc cannot be listed, or more than kMostFiles or kMostHolders. A file
    // with a holder too many is left out: its known holders do not free it.
    bool complete = false;
    // st_dev of the filesystem; 0: it does not exist.
    uint64_t device = 0;
  };

  static constexpr size_t kMostFiles = 100'000;
  // Holders of all files together: processes that share their open files multiply.
  static constexpr size_t kMostHolders = 1'000'000;
  explicit DeletedFiles(std::string path, size_t most_holders = kMostHolders)
      : path_(std::move(path)), most_holders_(most_holders) {}

  // Checks `cancelled` at each descriptor.
  Result Run(const std::atomic<bool>& cancelled);

 private:
  struct File {
    uint64_t bytes = 0;
    std::vector<pid_t> holders;
  };

  // Return false if a descriptor cannot be read.
  bool ReadProcess(int proc, pid_t pid, const std::atomic<bool>& cancelled);
  bool ReadDescriptor(int descriptors, const char* name, pid_t pid);

  const std::string path_;
  const size_t most_holders_;
  uint64_t device_ = 0;
  std::map<uint64_t, File> files_;  // by inode
  size_t holders_ = 0;              // of all files
  bool overflown_ = false;
};

}  // namespace evictd
