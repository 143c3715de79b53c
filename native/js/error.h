#pragma once

#include <napi.h>

#include <new>

#include "system/error_text.h"
#include "system/system_error.h"

namespace evictd {

// An Error as Node's own fs makes them: code ('ENOENT'; on Windows the system's, 'ERROR_PATH_NOT_FOUND'), errno
// (negative, as libuv's), syscall and, where there is one,
// path.
Napi::Error ToJavaScript(Napi::Env env, const SystemError& error);

// Runs `body`; what the kernel-facing code throws becomes a JavaScript exception.
template <typename Body>
auto Guarded(Napi::Env env, Body&& body) {
  try {
    return body();
  } catch (const SystemError& error) {
    throw ToJavaScript(env, error);
  } catch (const std::bad_alloc&) {
    throw ToJavaScript(env, SystemError(OutOfMemory(), "malloc"));
  }
}

}  // namespace evictd
