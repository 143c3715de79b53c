#pragma once

#include <atomic>

#include "watch/waker.h"

namespace evictd::test {

// Counts notifications; they fail until `answered` is true.
class CountingWaker : public Waker {
 public:
  bool Notify() override {
    notifications++;
    return answered;
  }

  std::atomic<int> notifications{0};
  std::atomic<bool> answered{true};
};

}  // namespace evictd::test
