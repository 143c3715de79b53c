#pragma once

#include <napi.h>

#include <atomic>
#include <functional>
#include <mutex>

#include "watch/waker.h"

namespace evictd {

// Wakes the event loop of one environment through a thread-safe function. Calls coalesce. It keeps the event loop alive
// only on request.
class ThreadSafeWaker : public Waker {
 public:
  // `answer` runs on JavaScript's thread, once for any number of notifications before it.
  ThreadSafeWaker(Napi::Env env, std::function<void()> answer);

  bool Notify() override;
  void KeepAlive(bool keep);

  // JavaScript's thread, from the cleanup hook: later notifications are dropped. A detached thread may still hold this
  // object.
  void Close();

 private:
  static void OnCall(napi_env env, napi_value callback, void* context, void* data);

  std::function<void()> answer_;
  std::atomic<bool> notified_{false};
  std::mutex mutex_;  // guards function_ against Close
  napi_threadsafe_function function_ = nullptr;
  napi_env env_;
};

}  // namespace evictd
