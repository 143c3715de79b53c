#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "system/linux/unique_fd.h"
#include "walk/linux/directory_entries.h"

namespace evictd {

// What a directory and all below it take: allocated blocks and inodes, as du counts them. Hard links count once,
// symbolic links as what they are, and what is mounted below belongs to others. Everything is opened relative to the
// directory that it is in, so that no path is too long and nobody can lead the walk elsewhere by a symbolic link.
//
// However deep it goes, the stack does not grow and at most kOpenLevels descriptors are open. Memory: some bytes a
// level, and those inodes that have more than one link.
class DirectoryWalk {
 public:
  struct Usage {
    uint64_t bytes = 0;
    uint64_t inodes = 0;
    // What could not be read and is not in the sum. What vanished meanwhile is no error.
    uint64_t errors = 0;
    int first_error = 0;
    // Everything was visited. False: the directory could not be opened, a directory was moved while the walk was in it,
    // or it was cancelled.
    bool complete = false;
    // st_dev of the directory; 0: it could not be opened.
    uint64_t device = 0;
    uint64_t inode = 0;
  };

  static constexpr size_t kOpenLevels = 32;

  // The inodes of more hard links than this are not kept: the links to others count each time.
  static constexpr size_t kMostLinked = 1'000'000;

  DirectoryWalk() = default;
  virtual ~DirectoryWalk() = default;
  DirectoryWalk(const DirectoryWalk&) = delete;
  DirectoryWalk& operator=(const DirectoryWalk&) = delete;

  // Until done, or until `cancelled`, which is asked at each entry.
  Usage Run(const std::string& path, const std::atomic<bool>& cancelled);

 protected:
  // A directory below the root is entered; it is counted itself, with `own_bytes`.
  virtual void Entered(const char* /*name*/, uint64_t /*own_bytes*/, const Usage& /*so_far*/) {}
  // The one that was entered last, of those that were not left yet, is counted with all below it.
  virtual void Left(const Usage& /*so_far*/) {}
  // Asked at each entry: true gives the walk up.
  virtual bool IsEnough(const Usage& /*so_far*/) { return false; }

 private:
  struct Level {
    UniqueFd directory;  // of the deepest kOpenLevels
    uint64_t inode = 0;
    DirectoryEntries entries;  // let go with the descriptor
  };

  // Counts it. A directory: 1, to be entered.
  bool Count(int directory, const char* name);
  void Enter(UniqueFd directory, uint64_t inode);
  // The next entry of the deepest level; nullptr: it has no more, or cannot be read.
  const char* Next();
  // Back to the level above. False: it is not there any more.
  bool Leave();
  void Failed(int error);

  Usage usage_;
  uint64_t device_ = 0;
  uint64_t mount_ = 0;
  std::vector<Level> levels_;
  std::unordered_set<uint64_t> linked_;
};

}  // namespace evictd
