// /proc/meminfo, the keys that evictd reads.
#include "fuzz/keyed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const evictd::fuzz::Input input(data, size);
  evictd::fuzz::CheckKeyed({"MemTotal", "MemAvailable", "AnonPages", "Inactive(file)", "SwapFree"}, input.text());
  return 0;
}
