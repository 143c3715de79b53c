#include "js/windows/environment.h"

#include <memory>
#include <utility>

namespace evictd {

void Environment::Create(Napi::Env env) {
  auto environment = std::make_unique<Environment>(env);
  Environment* const held = environment.get();
  env.SetInstanceData(environment.release());
  // Hooks run in reverse order, so this one before that of the thread-safe function made above: the waiter is joined
  // while its bell still exists. process.exit() runs neither; there are no statics it could pull away.
  env.AddCleanupHook([held] { held->End(); });
}

uint64_t Environment::Add(std::shared_ptr<WatchSource> source) {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(bell());
  return waiter_->Add(std::move(source));
}

void Environment::End() {
  waiter_.reset();
  bell()->Close();
  AbandonAll();
}

}  // namespace evictd
