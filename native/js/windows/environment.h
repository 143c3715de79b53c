#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "js/environment.h"
#include "watch/windows/waiter.h"

namespace evictd {

class Environment : public EnvironmentOf<Environment> {
 public:
  explicit Environment(Napi::Env env) : EnvironmentOf(env) {}

  // For EnvironmentWatch. The first Add starts the waiter. Throws SystemError.
  using Source = WatchSource;
  uint64_t Add(std::shared_ptr<WatchSource> source) {
    if (!waiter_) waiter_ = std::make_unique<Waiter>(waker());
    return waiter_->Add(std::move(source));
  }
  void Remove(uint64_t id) { waiter_->Remove(id); }
  void Drop(const std::shared_ptr<WatchSource>&, uint64_t /*id*/) {}

  void StopThreads() { waiter_.reset(); }

 private:
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace evictd
