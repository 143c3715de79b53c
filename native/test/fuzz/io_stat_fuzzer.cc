// io.stat: each value is the sum of what strtoull reads after "key=" in any word of the text.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "fuzz/keyed.h"
#include "read/linux/kernel_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using evictd::fuzz::Require;
  const evictd::fuzz::Input input(data, size);
  const evictd::FileSpec spec = {"", evictd::TextFormat::kNested, {"rbytes", "wbytes"}};
  double values[2];
  const int error = evictd::ParseKernelText(spec, input.text(), values);
  Require(error == 0 || error == EBADMSG);
  Require(error == (std::isnan(values[0]) || std::isnan(values[1]) ? EBADMSG : 0));
  for (size_t key = 0; key < 2; key++) {
    if (std::isnan(values[key])) continue;
    double sum = 0;
    std::string text(input.text());
    for (char& byte : text) {
      if (byte == '\n') byte = ' ';
    }
    std::istringstream lines(text);
    const std::string name = spec.keys[key] + "=";
    for (std::string word; std::getline(lines, word, ' ');) {
      if (word.compare(0, name.size(), name) == 0)
        sum += static_cast<double>(strtoull(word.c_str() + name.size(), nullptr, 10));
    }
    Require(values[key] == sum);
  }
  return 0;
}
