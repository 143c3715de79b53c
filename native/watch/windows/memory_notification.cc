#include "watch/windows/memory_notification.h"

#include "system/system_error.h"

namespace evictd {

MemoryNotification::MemoryNotification(MEMORY_RESOURCE_NOTIFICATION_TYPE kind)
    : notification_(CreateMemoryResourceNotification(kind)) {
  if (!notification_) throw SystemError(static_cast<int>(GetLastError()), "CreateMemoryResourceNotification");
}

bool MemoryNotification::IsSet() const {
  BOOL set = FALSE;
  if (!QueryMemoryResourceNotification(notification_.get(), &set))
    throw SystemError(static_cast<int>(GetLastError()), "QueryMemoryResourceNotification");
  return set != FALSE;
}

}  // namespace evictd
