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

// The allocated blocks and inodes of a directory and all below it, as du counts them. Counts hard links once, symbolic
// links themselves, and nothing that is mounted below. Opens everything relative to its directory, so no path is too
// long and no symbolic link leads elsewhere.
//
// At any depth the stack does not grow and at most kOpenLevels descriptors are open. Memory: some bytes a level, of
// which it enters at most kMostLevels, and the inodes with several links.
class DirectoryWalk {
 public:
  struct Usage {
    uint64_t bytes = 0;
    uint64_t inodes = 0;
    // What could not be read; ENAMETOOLONG: a directory below kMostLevels, of which only the inode counts. What
    // vanished meanwhile is not an error.
    uint64_t errors = 0;
    int first_error = 0;
    // All was visited. False: the root could not be opened, a directory was moved during the walk, or it was cancelled.
    bool complete = false;
    // st_dev of the directory; 0: it could not be opened.
    uint64_t device = 0;
    uint64_t inode = 0;
  };

  static constexpr size_t kOpenLevels = 32;

  // A user can nest directories until the inodes run out.
  static constexpr size_t kMostLevels = 16'384;

  // Beyond this many hard-linked inodes, further links count each time.
  static constexpr size_t kMostLinked = 1'000'000;

  DirectoryWalk() = default;
  virtual ~DirectoryWalk() = default;
  DirectoryWalk(const DirectoryWalk&) = delete;
  DirectoryWalk& operator=(const DirectoryWalk&) = delete;

  // Checks `cancelled` at each entry.
  Usage Run(const std::string& path, const std::atomic<bool>& cancelled);

 protected:
  // Entered a directory below the root, which is counted with `own_bytes`.
  virtual void Entered(const char* /*name*/, uint64_t /*own_bytes*/, const Usage& /*so_far*/) {}
  // Left the directory entered last; it is counted with all below it.
  virtual void Left(const Usage& /*so_far*/) {}
  // Called at each entry; true ends the walk.
  virtual bool ShouldStop(const Usage& /*so_far*/) { return false; }

 private:
  struct Level {
    UniqueFd directory;  // of the deepest kOpenLevels
    uint64_t inode = 0;
    DirectoryEntries entries;  // dropped with the descriptor
  };

  // Returns true for a directory, to be entered.
  bool Count(int directory, const char* name);
  void Enter(UniqueFd directory, uint64_t inode);
  // The next entry of the deepest level; nullptr at its end or on failure.
  const char* Next();
  // Returns to the level above. False: it was moved.
  bool Leave();
  void Failed(int error);

  Usage usage_;
  uint64_t device_ = 0;
  uint64_t mount_ = 0;
  std::vector<Level> levels_;
  std::unordered_set<uint64_t> linked_;
};

}  // namespace evictd
