#pragma once

#include <atomic>
#include <cstdint>

namespace evictd {

// Why a watch woke, as bits, because wakes coalesce. The values are the contract's WAKE.
enum class Wake : unsigned { kNothing = 0, kFired = 1, kGone = 2 };

// The pending wakes of one watch: reasons, detail bits and the time of the first, in one word, so that they are
// consistent and no event allocates however long JavaScript stalls.
class WakeMask {
 public:
  static constexpr unsigned kDetailBits = 10;

  struct Pending {
    unsigned bits;
    unsigned detail;
    uint64_t at_ns;
  };

  // Any thread. Returns true if nothing was pending: only then a notification is due.
  bool Post(Wake wake, unsigned detail, uint64_t now_ns) {
    const uint64_t added = static_cast<unsigned>(wake) | (detail & kDetailMask) << kBits;
    uint64_t before = word_.load(std::memory_order_relaxed);
    uint64_t after;
    do {
      after = before == 0 ? (now_ns / kTickNs) << (kBits + kDetailBits) | added : before | added;
    } while (!word_.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    return before == 0;
  }

  // JavaScript's thread: what is pending; bits 0: nothing.
  Pending Take() {
    const uint64_t word = word_.exchange(0, std::memory_order_acq_rel);
    return {static_cast<unsigned>(word & kBitsMask), static_cast<unsigned>(word >> kBits & kDetailMask),
            (word >> (kBits + kDetailBits)) * kTickNs};
  }

 private:
  static constexpr unsigned kBits = 2;
  static constexpr uint64_t kBitsMask = (1u << kBits) - 1;
  static constexpr uint64_t kDetailMask = (1u << kDetailBits) - 1;
  // leaves 52 bits: 18 years of uptime
  static constexpr uint64_t kTickNs = 128;

  std::atomic<uint64_t> word_{0};
};

}  // namespace evictd
