#pragma once

#include <napi.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "system/byte_text.h"

namespace evictd {

template <typename Value>
Napi::Number NumberOf(Napi::Env env, Value value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

// Text of the kernel, which need not be UTF-8 (system/byte_text.h). A Value: Object::Set would copy a String as UTF-8.
inline Napi::Value TextOf(Napi::Env env, const std::string& bytes) {
  return IsAscii(bytes) ? Napi::String::New(env, bytes) : Napi::String::New(env, TextOfBytes(bytes));
}

inline Napi::Object ObjectOf(Napi::Env env, std::initializer_list<std::pair<const char*, napi_value>> members) {
  Napi::Object object = Napi::Object::New(env);
  for (const auto& [name, value] : members) object.Set(name, value);
  return object;
}

// An object with the bits of a mask by name.
inline Napi::Object Bits(Napi::Env env, std::initializer_list<std::pair<const char*, unsigned>> bits) {
  Napi::Object object = Napi::Object::New(env);
  for (const auto& [name, bit] : bits) object.Set(name, NumberOf(env, bit));
  return object;
}

template <typename Items, typename ToJs>
Napi::Array ArrayOf(Napi::Env env, const Items& items, ToJs to_js) {
  Napi::Array array = Napi::Array::New(env, items.size());
  uint32_t index = 0;
  for (const auto& each : items) array.Set(index++, to_js(each));
  return array;
}

template <typename Numbers>
Napi::Array ArrayOfNumbers(Napi::Env env, const Numbers& numbers) {
  return ArrayOf(env, numbers, [env](const auto& each) { return NumberOf(env, each); });
}

}  // namespace evictd
