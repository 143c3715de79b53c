#include "js/argument.h"

#include <cmath>

#include "system/byte_text.h"

namespace evictd {

namespace {

// U+FFFD, which Node-API writes for a lone surrogate.
constexpr const char* kReplaced = "\xEF\xBF\xBD";

template <typename Element, typename Argument>
std::vector<Element> ListArgument(const Napi::Value& value, const char* name, Argument argument) {
  if (!value.IsArray()) ThrowArgumentError(value.Env(), std::string(name) + " must be an array");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<Element> elements;
  elements.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); i++) elements.push_back(argument(array.Get(i), name));
  return elements;
}

}  // namespace

void ThrowArgumentError(Napi::Env env, const std::string& message, bool range) {
  if (range) {
    Napi::RangeError error = Napi::RangeError::New(env, message);
    error.Set("code", Napi::String::New(env, "ERR_OUT_OF_RANGE"));
    throw error;
  }
  Napi::TypeError error = Napi::TypeError::New(env, message);
  error.Set("code", Napi::String::New(env, "ERR_INVALID_ARG_TYPE"));
  throw error;
}

std::string TextArgument(const Napi::Value& value, const char* name, bool may_be_empty) {
  if (!value.IsString()) ThrowArgumentError(value.Env(), std::string(name) + " must be a string");
  std::string text = value.As<Napi::String>().Utf8Value();
  // A lone surrogate may stand for a byte of a name.
  if (text.find(kReplaced) != std::string::npos) text = BytesOfText(value.As<Napi::String>().Utf16Value());
  if ((text.empty() && !may_be_empty) || text.find('\0') != std::string::npos) {
    ThrowArgumentError(value.Env(), std::string(name) + " must not be empty nor contain NUL");
  }
  return text;
}

double NumberArgument(const Napi::Value& value, const char* name) {
  if (!value.IsNumber()) ThrowArgumentError(value.Env(), std::string(name) + " must be a number");
  return value.As<Napi::Number>().DoubleValue();
}

int64_t IntegerArgument(const Napi::Value& value, const char* name, int64_t low, int64_t high) {
  const double number = NumberArgument(value, name);
  // Not (a && b): NaN has to fail.
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)) || std::trunc(number) != number) {
    ThrowArgumentError(
        value.Env(),
        std::string(name) + " must be an integer from " + std::to_string(low) + " to " + std::to_string(high), true);
  }
  return static_cast<int64_t>(number);
}

uint64_t BigIntArgument(const Napi::Value& value, const char* name) {
  if (!value.IsBigInt()) ThrowArgumentError(value.Env(), std::string(name) + " must be a bigint");
  bool lossless = false;
  const uint64_t number = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) ThrowArgumentError(value.Env(), std::string(name) + " must be from 0 to 2^64 - 1", true);
  return number;
}

Napi::Function FunctionArgument(const Napi::Value& value, const char* name) {
  if (!value.IsFunction()) ThrowArgumentError(value.Env(), std::string(name) + " must be a function");
  return value.As<Napi::Function>();
}

Napi::Object ObjectArgument(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) ThrowArgumentError(value.Env(), std::string(name) + " must be an object");
  return value.As<Napi::Object>();
}

std::vector<std::string> TextsArgument(const Napi::Value& value, const char* name, bool may_be_empty) {
  return ListArgument<std::string>(value, name, [may_be_empty](const Napi::Value& element, const char* of) {
    return TextArgument(element, of, may_be_empty);
  });
}

std::vector<double> NumbersArgument(const Napi::Value& value, const char* name) {
  return ListArgument<double>(value, name, [](const Napi::Value& element, const char* of) {
    const double number = NumberArgument(element, of);
    if (std::isnan(number)) ThrowArgumentError(element.Env(), std::string(of) + " must not contain NaN", true);
    return number;
  });
}

}  // namespace evictd
