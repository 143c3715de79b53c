#include "js/error.h"

#include "js/value.h"

namespace evictd {

Napi::Error ToJavaScript(Napi::Env env, const SystemError& error) {
  Napi::Error result = Napi::Error::New(env, error.what());
  result.Set("errno", NumberOf(env, -error.error()));
  result.Set("code", Napi::String::New(env, ErrorName(error.error())));
  result.Set("syscall", Napi::String::New(env, error.syscall()));
  if (!error.path().empty()) result.Set("path", Napi::String::New(env, error.path()));
  return result;
}

}  // namespace evictd
