#pragma once

#include <napi.h>

#include <initializer_list>
#include <utility>

namespace evictd {

// An object with the bits of a mask by name.
inline Napi::Object Bits(Napi::Env env, std::initializer_list<std::pair<const char*, unsigned>> bits) {
  Napi::Object object = Napi::Object::New(env);
  for (const auto& [name, bit] : bits) object.Set(name, Napi::Number::New(env, bit));
  return object;
}

}  // namespace evictd
