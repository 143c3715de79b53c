#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "filesystem/filesystem_call.h"
#include "watch/waker.h"

namespace evictd {

class FilesystemThreads;

// What is free on one path's filesystem, asked on a thread of its own, because a dead network mount makes the call hang
// for ever. The thread is detached and shares its state with its owners: whoever is last frees it. It is made at
// construction, since at the moment of need no thread may be created.
class FilesystemStats {
 public:
  struct Reading : FilesystemAnswer {
    uint64_t at_ns = 0;
    bool pending = false;
    // Of the reading that is under way, whoever asked for it.
    uint64_t pending_since_ns = 0;
  };

  // Throws SystemError: no thread.
  FilesystemStats(const std::string& path, FilesystemThreads* threads);
  // Does not wait: a thread that hangs is left behind, holds nothing but its state, and ends when the filesystem
  // answers, unless another owner of the same path has come by then.
  ~FilesystemStats();
  FilesystemStats(const FilesystemStats&) = delete;
  FilesystemStats& operator=(const FilesystemStats&) = delete;

  // For a reading that begins after this call. False: an earlier request of this owner is under way, then nothing
  // happens.
  bool Request();

  // For whoever samples: as Request, but rings `bell`, and any number may be under way. Allocates nothing after the
  // first times.
  void Ask(const std::shared_ptr<Bell>& bell);

  // The newest result; at_ns 0: none yet.
  Reading Read() const;

  // True once after each request that was answered.
  bool TakeDone();

 private:
  friend class FilesystemThreads;
  struct State;
  struct Owner;
  static void Run(State* shared);

  std::unique_ptr<Owner> owner_;
  std::shared_ptr<State> state_;
};

// The threads of one environment, one per path at most: who closes a path that hangs and opens it again meets the
// thread that still hangs. JavaScript's thread only.
class FilesystemThreads {
 public:
  explicit FilesystemThreads(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}

 private:
  friend class FilesystemStats;
  // The running one, or a new one. Throws SystemError.
  std::shared_ptr<FilesystemStats::State> Join(const std::string& path, FilesystemStats::Owner* owner);

  const std::shared_ptr<Bell> bell_;
  std::map<std::string, std::weak_ptr<FilesystemStats::State>> states_;
};

}  // namespace evictd
