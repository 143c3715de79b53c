// PSI: each value is what sscanf reads in the last line of its kind.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include "fuzz/keyed.h"
#include "read/linux/kernel_text.h"

namespace {

using evictd::fuzz::Require;

void Same(double actual, double expected) { Require(std::fabs(actual - expected) <= 1e-9 * std::fabs(expected)); }

void Compare(std::string_view text, const char* kind, const double* values) {
  std::istringstream lines{std::string(text)};
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 5, std::string(kind) + " ") == 0) last = line;
  }
  if (last.empty()) {
    for (int i = 0; i < 4; i++) Require(std::isnan(values[i]));
    return;
  }
  double averages[3];
  unsigned long long total = 0;
  const int fields = sscanf(last.c_str() + 5, "avg10=%lf avg60=%lf avg300=%lf total=%llu", &averages[0], &averages[1],
                            &averages[2], &total);
  Require(fields == 4);
  for (int i = 0; i < 3; i++) Same(values[i], averages[i]);
  Same(values[3], static_cast<double>(total));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const evictd::fuzz::Input input(data, size);
  const evictd::FileSpec spec = {"", evictd::TextFormat::kPressure, {}};
  double values[8];
  const int error = evictd::ParseKernelText(spec, input.text(), values);
  if (error == EBADMSG) return 0;
  Compare(input.text(), "some", values);
  Compare(input.text(), "full", values + 4);
  Require(error == (std::isnan(values[0]) || std::isnan(values[4]) ? ENODATA : 0));
  return 0;
}
