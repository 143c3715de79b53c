#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "js/environment.h"
#include "system/linux/child_program.h"
#include "walk/linux/background_walk.h"
#include "watch/linux/armer.h"
#include "watch/linux/waiter.h"

namespace evictd {

class Environment : public EnvironmentOf<Environment> {
 public:
  explicit Environment(Napi::Env env)
      : EnvironmentOf(env), background_walks_(waker()), directory_walks_(waker()), child_programs_(waker()) {}

  // The first call starts the threads of both. Throws SystemError.
  Waiter& waiter();
  Armer& armer();

  // The base class of the sources, for EnvironmentWatch.
  using Source = WatchSource;
  uint64_t Add(std::shared_ptr<WatchSource> source) { return waiter().Add(std::move(source)); }
  void Remove(uint64_t id) { waiter_->Remove(id); }
  void Drop(std::shared_ptr<WatchSource> source, uint64_t id);

  // Drops a source that was never added to the waiter: on the armer's thread if there is one, else here.
  void Release(std::shared_ptr<WatchSource> source);

  BackgroundWalks* background_walks() { return &background_walks_; }
  // Apart from background_walks: hanging walks of one kind must not keep the other kind from starting.
  BackgroundWalks* directory_walks() { return &directory_walks_; }
  ChildPrograms* child_programs() { return &child_programs_; }

  void StopThreads();

 private:
  BackgroundWalks background_walks_;
  BackgroundWalks directory_walks_;
  ChildPrograms child_programs_;
  std::unique_ptr<Waiter> waiter_;
  std::unique_ptr<Armer> armer_;
};

}  // namespace evictd
