#include "js/wake_targets.h"

namespace evictd {

WakeTargets::WakeTargets(Napi::Env env) : waker_(std::make_shared<ThreadSafeWaker>(env, [this] { Deliver(); })) {}

uint64_t WakeTargets::Register(WakeTarget* target) {
  targets_.emplace(++last_id_, target);
  return last_id_;
}

void WakeTargets::Unregister(uint64_t id) { targets_.erase(id); }

void WakeTargets::WatchStarted() {
  if (watch_count_++ == 0) waker_->KeepAlive(true);
}

void WakeTargets::WatchEnded() {
  if (--watch_count_ == 0) waker_->KeepAlive(false);
}

void WakeTargets::Deliver() {
  for (auto next = targets_.begin(); next != targets_.end();) {
    const uint64_t id = next->first;
    try {
      next->second->Deliver();
    } catch (const Napi::Error&) {
      // A worker that is being terminated cannot create the callback's arguments. An exception in Node's frames above
      // would end the process.
    }
    next = targets_.upper_bound(id);
  }
}

void WakeTargets::DetachAll() {
  while (!targets_.empty()) {
    WakeTarget* const target = targets_.begin()->second;
    targets_.erase(targets_.begin());
    target->Detach();
  }
}

void CallBack(Napi::Env env, const Napi::Value& self, const Napi::Function& callback,
              std::initializer_list<napi_value> arguments) {
  napi_value result = nullptr;
  if (napi_call_function(env, self, callback, arguments.size(), arguments.begin(), &result) == napi_ok) return;
  bool pending = false;
  napi_value exception = nullptr;
  // A worker that is being terminated has no pending exception, or one that cannot be cleared.
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  if (napi_get_and_clear_last_exception(env, &exception) != napi_ok) return;
  // Not left pending: a thread-safe function swallows it with a deprecation warning.
  napi_fatal_exception(env, exception);
}

}  // namespace evictd
