#ifndef EVICTD_LINUX_FILESYSTEM_STATS_H_
#define EVICTD_LINUX_FILESYSTEM_STATS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "common/bell.h"

namespace evictd {

// statfs of one path on a thread of its own, because a dead network mount makes it hang for ever. The thread is
// detached and shares its state with the owner: whoever is last frees it. It is made at construction, since at the
// moment of need no thread may be created.
class FilesystemStats {
 public:
  struct Reading {
    uint64_t total_bytes = 0;
    uint64_t free_bytes = 0;
    uint64_t available_bytes = 0;
    uint64_t inodes = 0;
    uint64_t inodes_free = 0;
    uint64_t type = 0;
    uint64_t device = 0;
    int error = 0;
    uint64_t at_ns = 0;
    bool pending = false;
    uint64_t pending_since_ns = 0;
  };

  // Throws SystemError (EAGAIN: no thread).
  FilesystemStats(std::string path, std::shared_ptr<Bell> bell);
  // Does not wait: a thread that hangs is left behind, holds nothing but its state, and ends when the filesystem
  // answers.
  ~FilesystemStats();
  FilesystemStats(const FilesystemStats&) = delete;
  FilesystemStats& operator=(const FilesystemStats&) = delete;

  // False while an earlier one is under way: then nothing happens.
  bool Request();

  // For whoever samples: asks for a reading that begins after this call, and rings `bell` when it is there. Goes
  // together with a request that is waiting; allocates nothing after the first times.
  void Ask(const std::shared_ptr<Bell>& bell);

  // The newest result; at_ns 0: none yet.
  Reading Read() const;

  // True once after each Request that was answered.
  bool TakeDone();

 private:
  struct State;
  static void* Run(void* state);

  std::shared_ptr<State> state_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_FILESYSTEM_STATS_H_
