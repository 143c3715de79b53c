#include "linux/js/file_spec.h"

#include <string>
#include <utility>

#include "common/js_argument.h"

namespace evictd {

namespace {

TextFormat FormatArgument(const Napi::Value& value) {
  const std::string format = TextArgument(value, "format");
  if (format == "number") return TextFormat::kNumber;
  if (format == "keyed") return TextFormat::kKeyed;
  if (format == "pressure") return TextFormat::kPressure;
  if (format == "loadavg") return TextFormat::kLoadavg;
  ThrowArgumentError(value.Env(), "format must be number, keyed, pressure or loadavg, not " + format);
}

}  // namespace

std::vector<FileSpec> FileSpecsArgument(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) ThrowArgumentError(value.Env(), std::string(name) + " must be an array");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<FileSpec> specs;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Object object = ObjectArgument(array.Get(i), name);
    FileSpec spec = {TextArgument(object.Get("path"), "path"), FormatArgument(object.Get("format")), {}};
    if (spec.format == TextFormat::kKeyed) {
      const Napi::Value keys = object.Get("keys");
      if (!keys.IsArray()) ThrowArgumentError(value.Env(), "keys must be an array");
      const Napi::Array list = keys.As<Napi::Array>();
      for (uint32_t k = 0; k < list.Length(); k++) spec.keys.push_back(TextArgument(list.Get(k), "keys"));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace evictd
