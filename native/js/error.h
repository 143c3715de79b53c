#pragma once

#include <napi.h>

#include <new>

#include "js/value.h"
#include "system/error_text.h"
#include "system/system_error.h"

namespace evictd {

// An Error like those of Node's fs: code ('ENOENT', on Windows 'ERROR_PATH_NOT_FOUND'), errno (negative), syscall and
// perhaps path.
inline Napi::Error ToJavaScript(Napi::Env env, const SystemError& error) {
  napi_value created = nullptr;
  if (napi_create_error(env, nullptr, TextOf(env, error.what()), &created) != napi_ok) return Napi::Error::New(env);
  Napi::Error result(env, created);
  result.Set("errno", NumberOf(env, -error.error()));
  result.Set("code", Napi::String::New(env, ErrorName(error.error())));
  result.Set("syscall", Napi::String::New(env, error.syscall()));
  if (!error.path().empty()) result.Set("path", TextOf(env, error.path()));
  return result;
}

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
