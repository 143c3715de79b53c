#pragma once

#include <napi.h>

#include <cstddef>

#include "js/argument.h"

namespace evictd {

// A typed array that JavaScript owns and a native object fills.
template <typename Array>
class HeldArray {
 public:
  // Creates an array of `length` zeros; JavaScript keeps the previous one.
  void Replace(Napi::Env env, size_t length) {
    reference_ = Napi::Persistent(Array::New(env, length).template As<Napi::Object>());
    length_ = length;
  }

  Napi::Value Value() const { return reference_.Value(); }

  // Checked at each use: writing to an array that JavaScript has transferred would corrupt memory.
  auto* Data() const {
    Array array = reference_.Value().template As<Array>();
    if (array.ElementLength() != length_) ThrowArgumentError(reference_.Env(), "the array was transferred away", true);
    return array.Data();
  }

 private:
  Napi::ObjectReference reference_;
  size_t length_ = 0;
};

}  // namespace evictd
