#include "js/windows/environment.h"

#include <memory>
#include <utility>

namespace evictd {

void Environment::Create(Napi::Env env) {
  auto environment = std::make_unique<Environment>(env);
  Environment* const held = environment.get();
  env.SetInstanceData(environment.release());
  // Hooks run in reverse order, so the waiter is joined before the thread-safe function's own hook. process.exit() runs
  // neither.
  env.AddCleanupHook([held] { held->End(); });
}

uint64_t Environment::Add(std::shared_ptr<WatchSource> source) {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(waker());
  return waiter_->Add(std::move(source));
}

void Environment::End() {
  waiter_.reset();
  waker()->Close();
  DetachAll();
}

}  // namespace evictd
