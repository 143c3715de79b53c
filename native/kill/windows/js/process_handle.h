#pragma once

#include <napi.h>

#include <memory>

#include "kill/windows/process_handle.h"

namespace evictd {

// The process of a ProcessHandle argument. Throws a TypeError, or ERROR_INVALID_HANDLE if it is closed.
std::shared_ptr<ProcessHandle> ProcessHandleArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
