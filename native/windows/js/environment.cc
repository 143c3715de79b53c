#include "windows/js/environment.h"

#include <memory>

namespace evictd {

void Environment::Create(Napi::Env env) {
  auto environment = std::make_unique<Environment>(env);
  Environment* const held = environment.get();
  env.SetInstanceData(environment.release());
  // Hooks run in reverse order, so this one before that of the thread-safe function made above.
  env.AddCleanupHook([held] { held->End(); });
}

void Environment::End() {
  bell()->Close();
  AbandonAll();
}

}  // namespace evictd
