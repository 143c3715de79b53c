#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "system/linux/unique_fd.h"
#include "walk/linux/directory_entries.h"

namespace evictd {

// Visits a cgroup and all below it, '.hidden' included, a parent before its children, in bounded passes: each goes on
// where the last one ended. What appears behind the walk is visited in the next round.
//
// At any depth the stack does not grow, and at most kOpenLevels + 1 descriptors are open, between passes at most one.
// Memory: some bytes a level.
class CgroupWalk {
 public:
  static constexpr size_t kOpenLevels = 8;

  // Cgroups that one pass visits if an event loop waits for it: 3 ms, at most 20 ms if each contains another one.
  static constexpr size_t kMostCgroups = 512;
  static constexpr size_t kNoLimit = SIZE_MAX;

  // Returns true if the round is not empty. `is_root`: the cgroup where the walk begins.
  using Visit = std::function<bool(int directory, bool is_root)>;

  struct Pass {
    bool complete = false;  // it came to the end of the round: the next pass begins at the root
    int error = 0;          // the first failure; EAGAIN: a cgroup was moved. What vanished is not a failure
  };

  // `root`: an open directory, which outlives this object.
  explicit CgroupWalk(int root) : root_(root) {}

  // Visits at most `most` cgroups.
  Pass Run(size_t most, const Visit& visit);

  // Rounds in a row, from the root to the end, in which no visit returned true and nothing failed.
  size_t empty_rounds() const { return empty_rounds_; }

 private:
  struct Level {
    UniqueFd directory;  // of the deepest kOpenLevels
    uint64_t inode = 0;
    DirectoryEntries entries;  // dropped with the descriptor
  };

  // The open directory of the next cgroup, valid until the next call; -1 at the end of a round.
  int Next();
  // Enters the cgroup that was visited last, if it has children.
  void Descend();
  const char* NextChild();
  // Returns to the level above. False: the round cannot go on.
  bool Leave();
  // Closes all descriptors but one. False: the round is over.
  bool Pause();
  bool IsAtRoot() const { return levels_.empty() && visited_ < 0; }
  void Failed(int error);

  const int root_;
  std::vector<Level> levels_;
  UniqueFd child_;
  int visited_ = -1;  // the directory that was visited last, if it was not entered yet
  int error_ = 0;     // of this pass
  bool is_empty_ = true;
  size_t empty_rounds_ = 0;
};

// Whether the error means that a cgroup, or a file in it, was removed.
bool HasVanished(int error);

}  // namespace evictd
