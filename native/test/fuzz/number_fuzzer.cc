// Files of one number, and the load average: an accepted text is what printf writes for the value.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/keyed.h"
#include "read/linux/kernel_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using evictd::fuzz::Require;
  const evictd::fuzz::Input input(data, size);
  const std::string text(input.text());
  double value = -1;
  if (evictd::ParseKernelText({"", evictd::TextFormat::kNumber, {}}, input.text(), &value) != 0) {
    Require(std::isnan(value));
  } else if (text != "max\n") {
    Require(value == static_cast<double>(strtoull(text.c_str(), nullptr, 10)) * (text.back() == 'B' ? 1024 : 1) ||
            text.find(" kB\n") != std::string::npos);
    Require(text[0] >= '0' && text[0] <= '9' && text.back() == '\n');
  }
  if (evictd::ParseKernelText({"", evictd::TextFormat::kLoadavg, {}}, input.text(), &value) == 0) {
    unsigned long long existing = 0;
    Require(sscanf(text.c_str(), "%*f %*f %*f %*u/%llu", &existing) == 1);
    Require(value == static_cast<double>(existing));
  } else {
    Require(std::isnan(value));
  }
  return 0;
}
