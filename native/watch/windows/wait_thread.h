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
  // One handle of a call is the thread's own, for changes of its list.
  static constexpr size_t kMaximum = MAXIMUM_WAIT_OBJECTS - 1;

  // How often a handle that has fired is checked until it is clear.
  static constexpr DWORD kCheckMs = 1000;

  // Starts the thread. Throws SystemError.
  explicit WaitThread(std::shared_ptr<Waker> waker);
  ~WaitThread();
  WaitThread(const WaitThread&) = delete;
  WaitThread& operator=(const WaitThread&) = delete;

  // Both: any thread but this one. Returns false at kMaximum.
  bool Add(uint64_t id, std::shared_ptr<WatchSource> source);

  // No call of the source follows; the thread may hold it for a moment longer.
  void Remove(uint64_t id);

 private:
  struct Watch {
    std::shared_ptr<WatchSource> source;
    bool fired;  // and was not clear since
  };

  static DWORD WINAPI Run(void* thread);
  void Loop();
  DWORD Wait();
  void CheckEach();
  void CheckFired();
  void Handle(uint64_t id);
  void Post(uint64_t id, Wake wake);

  std::shared_ptr<Waker> waker_;
  UniqueHandle wakeup_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards watches_; held while an event is handled
  std::map<uint64_t, Watch> watches_;
  UniqueHandle thread_;

  // The thread's own: what it waits for now, held open meanwhile.
  std::vector<HANDLE> handles_;
  std::vector<uint64_t> ids_;
  std::vector<std::shared_ptr<WatchSource>> held_;
  bool any_fired_ = false;
  bool unnotified_ = false;  // a notification failed: repeated, as the bits stay pending
  uint64_t check_ns_ = 0;
};

}  // namespace evictd
