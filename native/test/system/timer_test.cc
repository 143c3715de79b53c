#include "system/linux/timer.h"

#include <poll.h>

#include "check.h"
#include "system/clock.h"

namespace evictd::test {

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kHour = 3'600'000 * kMs;
constexpr int kLong = 10'000;  // the time that a wait may take on a slow machine

bool IsReadable(const Timer& timer, int timeout_ms) {
  pollfd one = {timer.descriptor(), POLLIN, 0};
  return poll(&one, 1, timeout_ms) == 1;
}

}  // namespace

TEST("a timer is readable after its time, until it is acknowledged") {
  Timer timer;
  CHECK(!IsReadable(timer, 0));
  CHECK(!timer.Acknowledge());
  timer.Set(20 * kMs);
  CHECK(IsReadable(timer, kLong));
  CHECK(timer.Acknowledge());
  CHECK(!timer.Acknowledge());
  CHECK(!IsReadable(timer, 0));
}

TEST("a timer is not readable before its time, which is more than its part below a second") {
  Timer timer;
  timer.Set(kHour + 1);
  CHECK(!IsReadable(timer, 50));
}

TEST("a timer of 0 ns expires at once") {
  Timer timer;
  timer.Set(0);
  CHECK(IsReadable(timer, kLong));
}

TEST("the last setting of a timer counts, and clears an expiration") {
  Timer timer;
  timer.Set(0);
  CHECK(IsReadable(timer, kLong));
  timer.Set(kHour);
  CHECK(!IsReadable(timer, 0));
  timer.Set(0);
  CHECK(IsReadable(timer, kLong));
}

TEST("timers that are set one after the other share a moment, at most a sixteenth before their time") {
  for (const uint64_t ns : {20 * kMs, 333 * kMs, 1'000 * kMs, 1'024 * kMs, kHour}) {
    uint64_t moments = 1;
    uint64_t last = Timer::SharedMoment(0, ns);
    constexpr uint64_t kSteps = 1000;
    for (uint64_t step = 0; step <= kSteps; step++) {
      const uint64_t now = ns * step / kSteps;
      const uint64_t moment = Timer::SharedMoment(now, ns);
      CHECK(moment <= now + ns);
      CHECK(moment - now >= ns - ns / 16);
      if (moment != last) moments++;
      last = moment;
    }
    CHECK(moments <= 33);  // a step is more than a 32nd of the time
  }
}

TEST("a timer that is set with others is readable after its time") {
  Timer timer;
  timer.SetWithOthers(MonotonicNs(), kHour);
  CHECK(!IsReadable(timer, 0));
  timer.SetWithOthers(MonotonicNs(), 30 * kMs);
  CHECK(IsReadable(timer, kLong));
  CHECK(timer.Acknowledge());
}

}  // namespace evictd::test
