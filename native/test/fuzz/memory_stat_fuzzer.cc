// memory.stat of cgroup v1 and v2.
#include "fuzz/keyed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const evictd::fuzz::Input input(data, size);
  evictd::fuzz::CheckKeyed({"inactive_file", "total_inactive_file", "anon", "file", "shmem"}, input.text());
  return 0;
}
