#include <string>
#include <utility>

#include "js/argument.h"
#include "js/linux/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumDirectory = 31;

TextFormat FormatArgument(const Napi::Value& value) {
  const std::string format = TextArgument(value, "format");
  if (format == "number") return TextFormat::kNumber;
  if (format == "keyed") return TextFormat::kKeyed;
  if (format == "kstat") return TextFormat::kKstat;
  if (format == "nested") return TextFormat::kNested;
  if (format == "pressure") return TextFormat::kPressure;
  if (format == "loadavg") return TextFormat::kLoadavg;
  if (format == "occupied") return TextFormat::kOccupied;
  ThrowArgumentError(value.Env(),
                     "format must be number, keyed, kstat, nested, pressure, loadavg or occupied, not " + format);
}

}  // namespace

std::vector<FileSpec> FileSpecsArgument(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) ThrowArgumentError(value.Env(), std::string(name) + " must be an array");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<FileSpec> specs;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Object object = ObjectArgument(array.Get(i), name);
    FileSpec spec = {TextArgument(object.Get("path"), "path"), FormatArgument(object.Get("format")), {}, 0};
    if (spec.format == TextFormat::kKeyed || spec.format == TextFormat::kKstat || spec.format == TextFormat::kNested)
      spec.keys = TextsArgument(object.Get("keys"), "keys");
    const Napi::Value directory = object.Get("directory");
    if (!directory.IsUndefined())
      spec.directory = static_cast<size_t>(IntegerArgument(directory, "directory", 0, kMaximumDirectory));
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace evictd
