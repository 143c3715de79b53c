#pragma once

#include <napi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// Checked arguments. Each function throws a TypeError (ERR_INVALID_ARG_TYPE) or RangeError (ERR_OUT_OF_RANGE) that
// names the argument.

// A path or name: without NUL, and not empty unless that is allowed.
std::string TextArgument(const Napi::Value& value, const char* name, bool may_be_empty = false);

double NumberArgument(const Napi::Value& value, const char* name);

// `low` and `high` are both allowed.
int64_t IntegerArgument(const Napi::Value& value, const char* name, int64_t low, int64_t high);

uint64_t BigIntArgument(const Napi::Value& value, const char* name);

Napi::Function FunctionArgument(const Napi::Value& value, const char* name);

Napi::Object ObjectArgument(const Napi::Value& value, const char* name);

std::vector<std::string> TextsArgument(const Napi::Value& value, const char* name, bool may_be_empty = false);

std::vector<double> NumbersArgument(const Napi::Value& value, const char* name);

[[noreturn]] void ThrowArgumentError(Napi::Env env, const std::string& message, bool range = false);

}  // namespace evictd
