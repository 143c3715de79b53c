#pragma once

#include <memory>
#include <utility>

#include "kill/windows/process_handle.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// The exit of a process.
class ProcessExit : public WatchSource {
 public:
  explicit ProcessExit(std::shared_ptr<const ProcessHandle> process) : process_(std::move(process)) {}

  HANDLE handle() const override { return process_->get(); }

  // The last event: the handle stays signalled.
  Wake OnSignalled() override {
    return static_cast<Wake>(static_cast<unsigned>(Wake::kFired) | static_cast<unsigned>(Wake::kGone));
  }

 private:
  const std::shared_ptr<const ProcessHandle> process_;
};

}  // namespace evictd
