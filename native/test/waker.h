#pragma once

#include <atomic>

#include "watch/waker.h"

namespace evictd::test {

// Counts its rings; nobody comes until `answered` is true.
class CountingBell : public Bell {
 public:
  bool Ring() override {
    rings++;
    return answered;
  }

  std::atomic<int> rings{0};
  std::atomic<bool> answered{true};
};

}  // namespace evictd::test
