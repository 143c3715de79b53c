#pragma once

#include <napi.h>

#include <new>

#include "system/error_text.h"
#include "system/system_error.h"

namespace evictd {

// An Error like those of Node's fs: code ('ENOENT', on Windows 'ERROR_PATH_NOT_FOUND'), errno (negative), syscall and
// perhaps path.
Napi::Error ToJavaScript(Napi::Env env, const SystemError& error);

// Runs `body` and turns SystemError and bad_alloc into JavaScript exceptions.
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
