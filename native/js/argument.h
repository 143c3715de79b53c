#pragma once

#include <napi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// What a caller passed, checked. All throw a TypeError (RangeError for a number out of range) that names the argument,
// with Node's codes ERR_INVALID_ARG_TYPE and ERR_OUT_OF_RANGE.

// A path or a name: a string without NUL, not empty.
std::string TextArgument(const Napi::Value& value, const char* name);

double NumberArgument(const Napi::Value& value, const char* name);

// An integer from `low` to `high`, both included.
int64_t IntegerArgument(const Napi::Value& value, const char* name, int64_t low, int64_t high);

uint64_t BigIntArgument(const Napi::Value& value, const char* name);

Napi::Function FunctionArgument(const Napi::Value& value, const char* name);

Napi::Object ObjectArgument(const Napi::Value& value, const char* name);

// Each a text as above.
std::vector<std::string> TextsArgument(const Napi::Value& value, const char* name);

std::vector<double> NumbersArgument(const Napi::Value& value, const char* name);

[[noreturn]] void ThrowArgumentError(Napi::Env env, const std::string& message, bool range = false);

}  // namespace evictd
