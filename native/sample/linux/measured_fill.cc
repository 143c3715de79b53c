#include "sample/linux/measured_fill.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "system/clock.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAttempt = 1 << 20;
constexpr size_t kMapped = 4 * kAttempt;  // more than a processor's own cache
// The first touch may be slow because a hypervisor has to provide the page. The kernel then gives the same page again.
constexpr int kRounds = 2;
constexpr uint64_t kBudgetNs = 20'000'000;

double Touch(volatile char* pages) {
  const uint64_t begin_ns = MonotonicNs();
  for (size_t offset = 0; offset < kAttempt; offset += kPage) pages[offset] = 1;
  const uint64_t elapsed_ns = std::max<uint64_t>(MonotonicNs() - begin_ns, 1);
  return static_cast<double>(kAttempt) * 1e9 / static_cast<double>(elapsed_ns);
}

}  // namespace

double MeasureFill() {
  void* const mapped =
      mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw SystemError(errno, "mmap");
  madvise(mapped, kMapped, MADV_NOHUGEPAGE);  // EINVAL: a kernel without huge pages
  const uint64_t end_ns = MonotonicNs() + kBudgetNs;
  double best = 0;
  for (size_t done = 0; done < kRounds * kMapped && MonotonicNs() < end_ns; done += kAttempt) {
    if (done == kMapped) madvise(mapped, kMapped, MADV_DONTNEED);
    best = std::max(best, Touch(static_cast<char*>(mapped) + done % kMapped));
  }
  munmap(mapped, kMapped);
  return best;
}

}  // namespace evictd
