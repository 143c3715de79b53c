#pragma once

#include "system/windows/unique_handle.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// The system's notification of low or high memory: signalled as long as the condition lasts.
class MemoryNotification : public WatchSource {
 public:
  explicit MemoryNotification(MEMORY_RESOURCE_NOTIFICATION_TYPE kind);

  HANDLE handle() const override { return notification_.get(); }
  Wake OnSignalled() override { return Wake::kFired; }
  bool IsSet() const;

 private:
  UniqueHandle notification_;
};

}  // namespace evictd
