#ifndef EVICTD_WINDOWS_JS_PROCESS_HANDLE_H_
#define EVICTD_WINDOWS_JS_PROCESS_HANDLE_H_

#include <napi.h>

#include <memory>

#include "windows/process_handle.h"

namespace evictd {

// The process of a ProcessHandle that a caller passed. Throws a TypeError, or ERROR_INVALID_HANDLE where it is closed
// already.
std::shared_ptr<ProcessHandle> ProcessHandleArgument(const Napi::Value& value, const char* name);

}  // namespace evictd

#endif  // EVICTD_WINDOWS_JS_PROCESS_HANDLE_H_
