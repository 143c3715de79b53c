#pragma once

#include <napi.h>

#include <atomic>
#include <functional>
#include <mutex>

#include "watch/waker.h"

namespace evictd {

// The bell of one environment: a thread-safe function whose calls coalesce. It does not keep the event loop alive
// unless told so.
class ThreadSafeBell : public Bell {
 public:
  // `answer` runs on JavaScript's thread, once for any number of rings before it.
  ThreadSafeBell(Napi::Env env, std::function<void()> answer);

  bool Ring() override;

  // JavaScript's thread. Whether the environment waits for rings before it ends.
  void KeepAlive(bool keep);

  // JavaScript's thread, from the environment's cleanup hook: later rings are dropped. A detached thread may hold the
  // bell for longer.
  void Close();

 private:
  static void OnCall(napi_env env, napi_value callback, void* context, void* data);

  std::function<void()> answer_;
  std::atomic<bool> rung_{false};
  std::mutex mutex_;  // guards function_ against Close
  napi_threadsafe_function function_ = nullptr;
  napi_env env_;
};

}  // namespace evictd
