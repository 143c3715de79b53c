#include "linux/js/environment.h"

#include <utility>

namespace evictd {

void Environment::Create(Napi::Env env) {
  auto environment = std::make_unique<Environment>(env);
  Environment* const held = environment.get();
  env.SetInstanceData(environment.release());
  // Hooks run in reverse order, so this one before that of the thread-safe function made above: the waiter is joined
  // while its bell still exists. Not in a finalizer: joining there deadlocks on Node 24. process.exit() runs neither;
  // there are no statics it could pull away.
  env.AddCleanupHook([held] { held->End(); });
}

Environment::Environment(Napi::Env env)
    : bell_(std::make_shared<ThreadSafeBell>(env, [this] { Deliver(); })),
      filesystem_threads_(bell_),
      background_walks_(bell_),
      directory_walks_(bell_),
      emptyings_(bell_, BackgroundWalks::Priority::kNormal) {}

Waiter& Environment::waiter() {
  armer();
  return *waiter_;
}

// Both or none: where a watch is, the armer is, too.
Armer& Environment::armer() {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(bell_);
  if (!armer_) armer_ = std::make_unique<Armer>(waiter_.get());
  return *armer_;
}

void Environment::Release(std::shared_ptr<WatchSource> source) {
  if (armer_) armer_->Release(std::move(source));
}

uint64_t Environment::Register(WakeTarget* target) {
  targets_.emplace(++last_id_, target);
  return last_id_;
}

void Environment::Unregister(uint64_t id) { targets_.erase(id); }

void Environment::WatchStarted() {
  if (watch_count_++ == 0) bell_->KeepAlive(true);
}

void Environment::WatchEnded() {
  if (--watch_count_ == 0) bell_->KeepAlive(false);
}

void Environment::Deliver() {
  for (auto next = targets_.begin(); next != targets_.end();) {
    const uint64_t id = next->first;
    try {
      next->second->Deliver();
    } catch (const Napi::Error&) {
      // A worker that is being terminated cannot make what its callbacks are to be passed, and there is no JavaScript
      // left to be told so; in Node's own frames above, an exception would end the process.
    }
    next = targets_.upper_bound(id);
  }
}

void Environment::End() {
  armer_.reset();  // it uses the waiter, and waits for at most one call that is under way
  waiter_.reset();
  bell_->Close();
  while (!targets_.empty()) {
    WakeTarget* const target = targets_.begin()->second;
    targets_.erase(targets_.begin());
    target->Abandon();
  }
}

void CallBack(Napi::Env env, const Napi::Value& self, const Napi::Function& callback,
              std::initializer_list<napi_value> arguments) {
  napi_value result = nullptr;
  if (napi_call_function(env, self, callback, arguments.size(), arguments.begin(), &result) == napi_ok) return;
  bool pending = false;
  napi_value exception = nullptr;
  // Where the worker is being terminated nothing is pending, or nothing can be cleared.
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  if (napi_get_and_clear_last_exception(env, &exception) != napi_ok) return;
  // Not left pending: a thread-safe function swallows it with a deprecation warning.
  napi_fatal_exception(env, exception);
}

}  // namespace evictd
