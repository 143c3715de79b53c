#include "js/thread_safe_waker.h"

#include <utility>

namespace evictd {

ThreadSafeBell::ThreadSafeBell(Napi::Env env, std::function<void()> answer) : answer_(std::move(answer)), env_(env) {
  const napi_value name = Napi::String::New(env, "evictd");
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, &OnCall, &function_);
  NAPI_THROW_IF_FAILED_VOID(env, status);
  KeepAlive(false);
}

bool ThreadSafeBell::Ring() {
  if (rung_.exchange(true)) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ == nullptr) return true;
  if (napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking) == napi_ok) return true;
  rung_ = false;  // or no ring would ever follow
  return false;
}

void ThreadSafeBell::KeepAlive(bool keep) {
  if (function_ == nullptr) return;
  if (keep) {
    napi_ref_threadsafe_function(env_, function_);
  } else {
    napi_unref_threadsafe_function(env_, function_);
  }
}

void ThreadSafeBell::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ == nullptr) return;
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
}

void ThreadSafeBell::OnCall(napi_env env, napi_value, void* context, void*) {
  if (env == nullptr) return;  // the queue is emptied at the environment's end; `context` may be gone
  ThreadSafeBell* bell = static_cast<ThreadSafeBell*>(context);
  bell->rung_ = false;  // before looking: what is posted from here on rings again
  bell->answer_();
}

}  // namespace evictd
