#include "read/linux/kernel_text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "read/linux/digits.h"

namespace evictd {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kPressureLine = 4;  // avg10, avg60, avg300, total

// Percentages and load averages: "12.34".
bool TakePercentage(std::string_view* text, double* value) {
  const std::optional<uint64_t> whole = TakeDigits(text);
  if (!whole) return false;
  *value = static_cast<double>(*whole);
  if (!TakeText(text, ".")) return true;
  const size_t before = text->size();
  const std::optional<uint64_t> decimals = TakeDigits(text);
  if (!decimals) return false;
  double divisor = 1;
  for (size_t digits = before - text->size(); digits > 0; digits--) divisor *= 10;
  *value += static_cast<double>(*decimals) / divisor;
  return true;
}

// A value up to the end of its line: digits, "max" (no limit), or "123 kB" (meminfo; 1024 bytes).
bool ParseValue(std::string_view text, double* value) {
  if (text == "max") {
    *value = std::numeric_limits<double>::infinity();
    return true;
  }
  const std::optional<uint64_t> number = TakeDigits(&text);
  if (!number) return false;
  const bool kilobytes = text == " kB";
  if (!kilobytes && !text.empty()) return false;
  *value = static_cast<double>(*number) * (kilobytes ? 1024 : 1);
  return true;
}

std::string_view SkipSpaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

int ParseNumber(std::string_view text, double* value) {
  if (text.empty() || text.back() != '\n') return EBADMSG;
  text.remove_suffix(1);
  return ParseValue(text, value) ? 0 : EBADMSG;
}

// "key value" and "Key:   value kB"; in a kstat "key   type   value". Few keys meet about forty lines, so each line is
// compared with the keys that are not found yet.
int ParseKeyed(const FileSpec& spec, std::string_view text, double* values) {
  const bool terminated = !text.empty() && text.back() == '\n';
  size_t missing = spec.keys.size();
  int error = 0;
  while (!text.empty() && missing > 0) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off: digits may be missing
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t key_end = line.find(' ');
    if (key_end == std::string_view::npos) continue;
    std::string_view key = line.substr(0, key_end);
    if (!key.empty() && key.back() == ':') key.remove_suffix(1);
    for (size_t i = 0; i < spec.keys.size(); i++) {
      if (spec.keys[i] != key || !std::isnan(values[i])) continue;
      line = SkipSpaces(line.substr(key_end));
      if (spec.format == TextFormat::kKstat && TakeDigits(&line)) line = SkipSpaces(line);
      if (!ParseValue(line, &values[i])) error = EBADMSG;
      missing--;
      break;
    }
  }
  if (error != 0 || missing == 0) return error;
  return terminated ? ENODATA : EBADMSG;
}

// "8:0 rbytes=1 wbytes=2" lines (io.stat), the values of a key added up over all lines. No line: nothing was counted
// yet.
int ParseNested(const FileSpec& spec, std::string_view text, double* values) {
  if (!text.empty() && text.back() != '\n') return EBADMSG;
  std::fill_n(values, spec.keys.size(), 0);
  int error = 0;
  while (!text.empty()) {
    const size_t end = text.find_first_of(" \n");
    std::string_view value = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t key_end = value.find('=');
    if (key_end == std::string_view::npos) continue;
    const std::string_view key = value.substr(0, key_end);
    value.remove_prefix(key_end + 1);
    for (size_t i = 0; i < spec.keys.size(); i++) {
      if (spec.keys[i] != key) continue;
      const std::optional<uint64_t> number = TakeDigits(&value);
      const bool is_number = number && value.empty();
      values[i] += is_number ? static_cast<double>(*number) : kUnknown;
      if (!is_number) error = EBADMSG;
      break;
    }
  }
  return error;
}

bool ParsePressureLine(std::string_view line, double* values) {
  double parsed[kPressureLine];
  if (!TakeText(&line, " avg10=") || !TakePercentage(&line, &parsed[0])) return false;
  if (!TakeText(&line, " avg60=") || !TakePercentage(&line, &parsed[1])) return false;
  if (!TakeText(&line, " avg300=") || !TakePercentage(&line, &parsed[2])) return false;
  if (!TakeText(&line, " total=")) return false;
  const std::optional<uint64_t> total = TakeDigits(&line);
  if (!total || !line.empty()) return false;
  parsed[3] = static_cast<double>(*total);
  std::copy_n(parsed, kPressureLine, values);
  return true;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", then "full". cpu of old kernels has no "full", irq has only "full".
int ParsePressure(std::string_view text, double* values) {
  if (text.empty() || text.back() != '\n') return EBADMSG;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    double* into = TakeText(&line, "some") ? values : TakeText(&line, "full") ? values + kPressureLine : nullptr;
    if (into == nullptr || !ParsePressureLine(line, into)) return EBADMSG;
  }
  return std::isnan(values[0]) || std::isnan(values[kPressureLine]) ? ENODATA : 0;
}

// "0.00 0.01 0.05 1/123 4567": 123 tasks exist.
int ParseLoadavg(std::string_view text, double* value) {
  if (text.empty() || text.back() != '\n') return EBADMSG;
  double average = 0;
  for (int i = 0; i < 3; i++) {
    if (!TakePercentage(&text, &average) || !TakeText(&text, " ")) return EBADMSG;
  }
  if (!TakeDigits(&text) || !TakeText(&text, "/")) return EBADMSG;
  const std::optional<uint64_t> existing = TakeDigits(&text);
  if (!existing || !TakeText(&text, " ")) return EBADMSG;
  *value = static_cast<double>(*existing);
  return 0;
}

// cgroup.procs: 1 if it lists a process, else 0.
int ParseOccupied(std::string_view text, double* value) {
  if (!text.empty() && (text.front() < '0' || text.front() > '9')) return EBADMSG;
  *value = text.empty() ? 0 : 1;
  return 0;
}

}  // namespace

size_t FileSpec::fields() const {
  switch (format) {
    case TextFormat::kKeyed:
    case TextFormat::kKstat:
    case TextFormat::kNested:
      return keys.size();
    case TextFormat::kPressure:
      return 2 * kPressureLine;
    case TextFormat::kNumber:
    case TextFormat::kLoadavg:
    case TextFormat::kOccupied:
      return 1;
  }
  return 0;
}

void ForgetValues(const FileSpec& spec, double* values) { std::fill_n(values, spec.fields(), kUnknown); }

int ParseKernelText(const FileSpec& spec, std::string_view text, double* values) {
  ForgetValues(spec, values);
  switch (spec.format) {
    case TextFormat::kNumber:
      return ParseNumber(text, values);
    case TextFormat::kKeyed:
    case TextFormat::kKstat:
      return ParseKeyed(spec, text, values);
    case TextFormat::kNested:
      return ParseNested(spec, text, values);
    case TextFormat::kPressure:
      return ParsePressure(text, values);
    case TextFormat::kLoadavg:
      return ParseLoadavg(text, values);
    case TextFormat::kOccupied:
      return ParseOccupied(text, values);
  }
  return EBADMSG;
}

}  // namespace evictd
