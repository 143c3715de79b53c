#include "js/linux/environment.h"

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
    : WakeTargets(env), filesystem_threads_(bell()), background_walks_(bell()), directory_walks_(bell()) {}

Waiter& Environment::waiter() {
  armer();
  return *waiter_;
}

// Both or none: where a watch is, the armer is, too.
Armer& Environment::armer() {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(bell());
  if (!armer_) armer_ = std::make_unique<Armer>(waiter_.get());
  return *armer_;
}

void Environment::Drop(std::shared_ptr<WatchSource> source, uint64_t id) {
  if (id != 0 && source->LeftToArmer()) armer().Release(std::move(source));
}

void Environment::Release(std::shared_ptr<WatchSource> source) {
  if (armer_) armer_->Release(std::move(source));
}

void Environment::End() {
  armer_.reset();  // it uses the waiter, and waits for at most one call that is under way
  waiter_.reset();
  bell()->Close();
  AbandonAll();
}

}  // namespace evictd
