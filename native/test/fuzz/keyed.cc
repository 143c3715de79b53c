#include "fuzz/keyed.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "read/linux/kernel_text.h"

namespace evictd::fuzz {

namespace {

// The value of a line, by the C library; NaN if it has none.
double Reference(std::string value) {
  value.erase(0, value.find_first_not_of(' '));
  if (value == "max") return std::numeric_limits<double>::infinity();
  double unit = 1;
  if (value.size() > 3 && value.compare(value.size() - 3, 3, " kB") == 0) {
    value.resize(value.size() - 3);
    unit = 1024;
  }
  const bool digits = value.find_first_not_of("0123456789") == std::string::npos;
  errno = 0;
  const uint64_t number = strtoull(value.c_str(), nullptr, 10);
  return value.empty() || !digits || errno == ERANGE ? NAN : static_cast<double>(number) * unit;
}

bool StandsIn(std::string_view text, const std::string& key, double value) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    for (const std::string& start : {key + " ", key + ": "}) {
      if (line.compare(0, start.size(), start) == 0 && Reference(line.substr(start.size())) == value) return true;
    }
  }
  return false;
}

}  // namespace

void Require(bool condition) {
  if (!condition) abort();
}

void CheckKeyed(const std::vector<std::string>& keys, std::string_view text) {
  const FileSpec spec = {"", TextFormat::kKeyed, keys};
  std::vector<double> values(keys.size(), -1);
  const int error = ParseKernelText(spec, text, values.data());
  for (size_t i = 0; i < keys.size(); i++) Require(std::isnan(values[i]) || StandsIn(text, keys[i], values[i]));
  const bool complete = std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  Require(error != 0 || complete);

  const size_t half = text.size() / 2;
  std::vector<double> cut(keys.size(), -1);
  ParseKernelText(spec, text.substr(0, half), cut.data());
  for (size_t i = 0; i < keys.size(); i++) Require(std::isnan(cut[i]) || cut[i] == values[i]);
}

}  // namespace evictd::fuzz
