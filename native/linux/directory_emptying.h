#ifndef EVICTD_LINUX_DIRECTORY_EMPTYING_H_
#define EVICTD_LINUX_DIRECTORY_EMPTYING_H_

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "linux/directory_entries.h"
#include "linux/own_directory.h"
#include "linux/unique_fd.h"

namespace evictd {

// Removes all that is in a directory, and leaves the directory. Everything is removed by a name in a directory that is
// held open; no symbolic link is followed, and nothing that is mounted below is entered or removed. Whoever moves a
// directory away while this is in it ends the whole: what is elsewhere now is not to be removed.
//
// However deep it goes, the stack does not grow and at most kOpenLevels descriptors are open.
class DirectoryEmptying {
 public:
  struct Order {
    std::string path;  // as OpenOwnDirectory has it
    DirectoryIdentity identity;
    // Directories of cgroups: while a process lives in one of them, or below, nothing is removed. Those that are not
    // there have none.
    std::vector<std::string> cgroups;
    uint64_t within_ns = 0;
  };
  // done: all was visited; what is left is in the failures. refused: the directory cannot be opened safely (`error`).
  // replaced: it is another one. populated: somebody lives in one of the cgroups, or that cannot be told. moved: a
  // directory in it was moved away. late: its time was over. cancelled.
  enum class End { kDone, kRefused, kReplaced, kPopulated, kMoved, kLate, kCancelled };
  struct Failure {
    std::string name;  // relative to the directory
    int error = 0;
  };
  struct Result {
    End end = End::kCancelled;
    int error = 0;
    // Of what has no other name: what others still hold open comes back later.
    uint64_t bytes = 0;
    uint64_t inodes = 0;
    // Names that could not be removed, without those of the directories that they are in.
    uint64_t failed = 0;
    std::vector<Failure> failures;  // the first kNamedFailures
  };

  static constexpr size_t kOpenLevels = 32;
  static constexpr size_t kNamedFailures = 5;

  explicit DirectoryEmptying(Order order) : order_(std::move(order)) {}

  Result Run(const std::atomic<bool>& cancelled);

 private:
  struct Level {
    UniqueFd directory;  // of the deepest kOpenLevels
    DirectoryIdentity identity;
    std::string name;
    DirectoryEntries entries;
    uint64_t bytes = 0;  // its own
    bool keeps = false;  // something in it could not be removed
    bool removed = false;
    int passes = 0;
  };

  // False: result_.end says why it is over.
  bool Open();
  bool MayGoOn(const std::atomic<bool>& cancelled);
  bool IsBeneath() const;
  bool IsPopulated() const;
  // One entry: removed, entered, or failed.
  void Take(const char* name);
  bool IsHere(int directory, const char* name, const struct statx& status) const;
  void EnterDirectory(const char* name);
  void Enter(UniqueFd directory, Level level);
  // The deepest level has no more entries. False: the one above is elsewhere.
  bool Leave();
  void Fail(const char* name, int error);

  const Order order_;
  Result result_;
  uint64_t mount_ = 0;
  uint64_t begun_ns_ = 0;
  uint64_t look_ns_ = 0;  // when to look next
  std::vector<Level> levels_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_DIRECTORY_EMPTYING_H_
