#include "js/thread_safe_waker.h"

#include <utility>

namespace evictd {

ThreadSafeWaker::ThreadSafeWaker(Napi::Env env, std::function<void()> answer) : answer_(std::move(answer)), env_(env) {
  const napi_value name = Napi::String::New(env, "evictd");
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, &OnCall, &function_);
  NAPI_THROW_IF_FAILED_VOID(env, status);
  KeepAlive(false);
}

bool ThreadSafeWaker::Notify() {
  if (notified_.exchange(true)) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ == nullptr) return true;
  if (napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking) == napi_ok) return true;
  notified_ = false;  // or no notification would ever follow
  return false;
}

void ThreadSafeWaker::KeepAlive(bool keep) {
  if (function_ == nullptr) return;
  if (keep) {
    napi_ref_threadsafe_function(env_, function_);
  } else {
    napi_unref_threadsafe_function(env_, function_);
  }
}

void ThreadSafeWaker::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ == nullptr) return;
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
}

void ThreadSafeWaker::OnCall(napi_env env, napi_value, void* context, void*) {
  if (env == nullptr) return;  // the environment ended; `context` may be gone
  ThreadSafeWaker* waker = static_cast<ThreadSafeWaker*>(context);
  waker->notified_ = false;  // first: what is posted from here on notifies again
  waker->answer_();
}

}  // namespace evictd
