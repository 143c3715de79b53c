#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "system/windows/unique_handle.h"
#include "watch/waker.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// A thread that waits for as many handles as one call can.
class WaitThread {
 public:
  // One of what a call can wait for is the thread's own, which tells it to look at its list again.
  static constexpr size_t kMaximum = MAXIMUM_WAIT_OBJECTS - 1;

  // How often a handle that has fired is looked at until it is clear.
  static constexpr DWORD kLookMs = 1000;

  // Starts the thread. Throws SystemError.
  explicit WaitThread(std::shared_ptr<Bell> bell);
  // Stops and joins it.
  ~WaitThread();
  WaitThread(const WaitThread&) = delete;
  WaitThread& operator=(const WaitThread&) = delete;

  // All: any thread but this one. False: it has kMaximum already.
  bool Add(uint64_t id, std::shared_ptr<WatchSource> source);

  // After it returns the source is not called any more; the thread may hold it for a moment longer.
  void Remove(uint64_t id);

 private:
  struct Watch {
    std::shared_ptr<WatchSource> source;
    bool fired;  // and has not been clear since
  };

  static DWORD WINAPI Run(void* thread);
  void Loop();
  DWORD Wait();
  void LookAtEach();
  void LookAtFired();
  void Handle(uint64_t id);
  void Post(uint64_t id, Wake wake);

  std::shared_ptr<Bell> bell_;
  UniqueHandle kick_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards watches_; held while an event is handled
  std::map<uint64_t, Watch> watches_;
  UniqueHandle thread_;

  // The thread's own: what it waits for now, which so stays open until it does not.
  std::vector<HANDLE> handles_;
  std::vector<uint64_t> ids_;
  std::vector<std::shared_ptr<WatchSource>> held_;
  bool any_fired_ = false;
  bool owed_ = false;  // a ring that failed: the bits are still there, so it is repeated until somebody comes
  uint64_t look_ns_ = 0;
};

}  // namespace evictd
