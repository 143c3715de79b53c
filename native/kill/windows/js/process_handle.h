#pragma once

#include <napi.h>

#include <memory>

#include "kill/windows/process_handle.h"

namespace evictd {

// The process of a ProcessHandle that a caller passed. Throws a TypeError, or ERROR_INVALID_HANDLE where it is closed
// already.
std::shared_ptr<ProcessHandle> ProcessHandleArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
