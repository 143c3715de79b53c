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

// The free space of one filesystem, read on a separate thread, because statfs on a dead network mount hangs for ever.
// The thread is detached and shares its state with its owners. It starts in the constructor: in an emergency no thread
// may be created.
class FilesystemStats {
 public:
  struct Reading : FilesystemAnswer {
    uint64_t at_ns = 0;
    bool pending = false;
    // When the current reading began, for whichever owner.
    uint64_t pending_since_ns = 0;
  };

  // Throws SystemError if no thread can be created.
  FilesystemStats(const std::string& path, FilesystemThreads* threads);
  // Does not wait. A hanging thread ends when the filesystem answers, unless another owner of the path has joined it.
  ~FilesystemStats();
  FilesystemStats(const FilesystemStats&) = delete;
  FilesystemStats& operator=(const FilesystemStats&) = delete;

  // Requests a reading that begins after this call. Returns false, with no effect, while an earlier request is pending.
  bool Request();

  // The sampler's request: notifies `waker`, and may be pending several times. Allocates only the first times.
  void RequestSample(const std::shared_ptr<Waker>& waker);

  // The newest result; at_ns 0: none yet.
  Reading Read() const;

  // Returns true once after each answered request.
  bool TakeDone();

 private:
  friend class FilesystemThreads;
  struct State;
  struct Owner;
  static void Run(State* shared);

  std::unique_ptr<Owner> owner_;
  std::shared_ptr<State> state_;
};

// The threads of one environment, at most one a path: a path that hangs and is opened again joins the hanging thread.
// JavaScript's thread only.
class FilesystemThreads {
 public:
  explicit FilesystemThreads(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {}

 private:
  friend class FilesystemStats;
  // Returns the running thread's state or that of a new thread. Throws SystemError.
  std::shared_ptr<FilesystemStats::State> Join(const std::string& path, FilesystemStats::Owner* owner);

  const std::shared_ptr<Waker> waker_;
  std::map<std::string, std::weak_ptr<FilesystemStats::State>> states_;
};

}  // namespace evictd
