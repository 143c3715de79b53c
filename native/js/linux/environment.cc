#include "js/linux/environment.h"

#include <utility>

namespace evictd {

void Environment::Create(Napi::Env env) {
  auto environment = std::make_unique<Environment>(env);
  Environment* const held = environment.get();
  env.SetInstanceData(environment.release());
  // Hooks run in reverse order, so the waiter is joined before the thread-safe function's own hook. Not in a finalizer:
  // joining there deadlocks on Node 24. process.exit() runs neither.
  env.AddCleanupHook([held] { held->End(); });
}

Environment::Environment(Napi::Env env)
    : WakeTargets(env), filesystem_threads_(waker()), background_walks_(waker()), directory_walks_(waker()) {}

Waiter& Environment::waiter() {
  armer();
  return *waiter_;
}

// Both or none: where a watch exists, the armer exists too.
Armer& Environment::armer() {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(waker());
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
  armer_.reset();  // uses the waiter; waits for at most one call
  waiter_.reset();
  waker()->Close();
  DetachAll();
}

}  // namespace evictd
