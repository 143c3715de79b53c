#pragma once

#include "system/windows/unique_handle.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// The system's own word for memory that is low, or plentiful: signalled as long as it is so.
class MemoryNotification : public WatchSource {
 public:
  // Throws SystemError.
  explicit MemoryNotification(MEMORY_RESOURCE_NOTIFICATION_TYPE kind);

  HANDLE handle() const override { return notification_.get(); }
  Wake OnSignalled() override { return Wake::kFired; }

  // Throws SystemError.
  bool IsSet() const;

 private:
  UniqueHandle notification_;
};

}  // namespace evictd
