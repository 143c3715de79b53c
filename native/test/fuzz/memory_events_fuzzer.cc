// memory.events, cgroup.events and v1's memory.oom_control.
#include "fuzz/keyed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const evictd::fuzz::Input input(data, size);
  evictd::fuzz::CheckKeyed(
      {"low", "high", "max", "oom", "oom_kill", "oom_group_kill", "populated", "frozen", "under_oom"}, input.text());
  return 0;
}
