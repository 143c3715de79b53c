#ifndef EVICTD_COMMON_WAKE_MASK_H_
#define EVICTD_COMMON_WAKE_MASK_H_

#include <atomic>
#include <cstdint>

namespace evictd {

// Why a watch woke. Bits, because wakes coalesce; the values are the contract's WAKE.
enum class Wake : unsigned { kNothing = 0, kFired = 1, kGone = 2 };

// The pending wakes of one watch: the bits and the time of the first of them, in one word, so that neither is ever seen
// without the other and no event allocates however long JavaScript stalls.
class WakeMask {
 public:
  struct Pending {
    unsigned bits;
    uint64_t at_ns;
  };

  // Any thread. True where nothing was pending before: then, and only then, somebody has to ring.
  bool Post(Wake wake, uint64_t now_ns) {
    uint64_t before = word_.load(std::memory_order_relaxed);
    uint64_t after;
    do {
      after = before == 0 ? (now_ns << kBits) | static_cast<unsigned>(wake) : before | static_cast<unsigned>(wake);
    } while (!word_.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    return before == 0;
  }

  // JavaScript's thread: what came since the last call; bits 0 where nothing did.
  Pending Take() {
    const uint64_t word = word_.exchange(0, std::memory_order_acq_rel);
    return {static_cast<unsigned>(word & kBitsMask), word >> kBits};
  }

 private:
  // 62 bits of nanoseconds are 146 years of uptime.
  static constexpr unsigned kBits = 2;
  static constexpr uint64_t kBitsMask = (1u << kBits) - 1;

  std::atomic<uint64_t> word_{0};
};

}  // namespace evictd

#endif  // EVICTD_COMMON_WAKE_MASK_H_
