#include "watch/wake_mask.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

namespace evictd::test {

TEST("only the first of several wakes needs a notification") {
  WakeMask mask;
  CHECK(mask.Post(Wake::kFired, 0, 1000));
  CHECK(!mask.Post(Wake::kFired, 0, 2000));
  mask.Take();
  CHECK(mask.Post(Wake::kFired, 0, 3000));
}

TEST("Take returns all bits, all details and the time of the first wake") {
  WakeMask mask;
  mask.Post(Wake::kFired, 1, 1024);
  mask.Post(Wake::kGone, 512, 4096);
  const WakeMask::Pending pending = mask.Take();
  CHECK_EQUAL(pending.bits, 3u);
  CHECK_EQUAL(pending.detail, 513u);
  CHECK_EQUAL(pending.at_ns, 1024u);
  CHECK_EQUAL(mask.Take().bits, 0u);
}

TEST("a detail of more than ten bits touches neither the time nor the wake") {
  WakeMask mask;
  mask.Post(Wake::kFired, ~0u, 1024);
  const WakeMask::Pending pending = mask.Take();
  CHECK_EQUAL(pending.bits, 1u);
  CHECK_EQUAL(pending.detail, 1023u);
  CHECK_EQUAL(pending.at_ns, 1024u);
}

TEST("racing posts and takes lose nothing: every notification finds its wake with its details") {
  constexpr int kPosts = 50000;
  WakeMask mask;
  std::atomic<int> notifications{0};
  std::atomic<int> posting{4};
  std::vector<std::thread> posters;
  for (int poster = 0; poster < 4; poster++) {
    posters.emplace_back([&, poster] {
      // The details repeat the wake's bits, so a reader that takes one without the other sees a difference.
      const Wake wake = poster % 2 == 0 ? Wake::kFired : Wake::kGone;
      for (int i = 1; i <= kPosts; i++) {
        if (mask.Post(wake, static_cast<unsigned>(wake), static_cast<uint64_t>(i) * 128)) notifications++;
      }
      posting--;
    });
  }
  int takes = 0;
  const auto take = [&] {
    const WakeMask::Pending pending = mask.Take();
    if (pending.bits == 0) return;
    takes++;
    CHECK_EQUAL(pending.detail, pending.bits);
    CHECK(pending.at_ns >= 128 && pending.at_ns <= uint64_t{kPosts} * 128);
  };
  while (posting > 0) take();
  for (std::thread& poster : posters) poster.join();
  take();
  CHECK_EQUAL(takes, notifications.load());
}

}  // namespace evictd::test
