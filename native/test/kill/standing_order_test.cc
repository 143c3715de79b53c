#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "kill/order_scene.h"
#include "system/clock.h"

namespace evictd::test {

TEST("an order that JavaScript does not take over kills the largest candidate, and its record comes before") {
  OrderScene scene;
  const Cgroup small(MemoryV1()), large(MemoryV1());
  Member spared(small, kSleeps), killed(large, kSleeps);
  auto plan = scene.Plan();
  plan->candidates.push_back(scene.Candidate(small, "small", "10"));
  plan->candidates.push_back(scene.Candidate(large, "large", "20"));
  CHECK(scene.order->Place(std::move(plan), 0));
  scene.Node("150");
  const uint64_t before_ns = MonotonicNs();
  scene.Fire();
  const StandingOrder::Result result = scene.Done();
  CHECK(WIFSIGNALED(killed.Wait()));
  CHECK_EQUAL(result.candidate, 1u);
  CHECK_EQUAL(result.node, 150);
  CHECK_EQUAL(result.value, 20);
  CHECK_EQUAL(result.error, 0);
  CHECK_EQUAL(result.unrecorded, 0);
  CHECK(result.processes >= 1);
  CHECK(result.crossed_ns >= before_ns && result.at_ns >= result.crossed_ns + 2 * kMillisecond);
  CHECK(kill(spared.pid(), 0) == 0);
  const std::string file = ReadText(scene.directory.File("record"));
  uint64_t times[2];
  double values[2];
  memcpy(times, file.data(), sizeof times);
  memcpy(values, file.data() + sizeof times, sizeof values);
  CHECK_EQUAL(times[0], result.crossed_ns);
  CHECK(times[1] >= times[0] && times[1] <= result.at_ns);
  CHECK_EQUAL(values[0], 150);
  CHECK_EQUAL(values[1], 20);
  CHECK_EQUAL(file.substr(StandingOrder::kRecordAt, 15), "record of large");
  CHECK(scene.NothingHappens());  // it is used up
}

TEST("a candidate has grown since the order was given, and offsets count") {
  OrderScene scene;
  const Cgroup first(MemoryV1()), second(MemoryV1());
  Member one(first, kSleeps), other(second, kSleeps);
  auto plan = scene.Plan();
  plan->candidates.push_back(scene.Candidate(first, "first", "50", -30));
  plan->candidates.push_back(scene.Candidate(second, "second", "10"));
  CHECK(scene.order->Place(std::move(plan), 0));
  CHECK(WriteText(scene.directory.File("second"), "21\n"));
  scene.Node("100");
  scene.Fire();
  CHECK_EQUAL(scene.Done().candidate, 1u);
  CHECK(WIFSIGNALED(other.Wait()));
}

TEST("an order is not carried out: withdrawn, expired, seen by JavaScript, or the node is below its limit again") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  const Member member(cgroup, kSleeps);
  const auto place = [&](uint64_t after_ns, uint64_t expires_ns, uint64_t seen_ns) {
    CHECK(scene.Place(cgroup, scene.Plan(after_ns, expires_ns), seen_ns));
  };
  CHECK(scene.NothingHappens());  // none was ever placed
  scene.Node("150");
  place(kMillisecond, MonotonicNs(), 0);
  CHECK(scene.NothingHappens());
  place(kMillisecond, kForever, MonotonicNs());  // from a pass after the wakes before, which do not count for it
  CHECK(scene.order->Place(nullptr, 0));
  CHECK(scene.NothingHappens());
  place(60000 * kMillisecond, kForever, 0);
  scene.Fire();
  place(kMillisecond, kForever, MonotonicNs());
  usleep(5000);
  CHECK(!scene.order->Take());
  place(1000 * kMillisecond, kForever, MonotonicNs());
  scene.Fire();
  scene.order->Seen(MonotonicNs());
  usleep(1200000);
  CHECK(!scene.order->Take());
  scene.Fire();
  scene.Node("099");  // as long as the text before
  usleep(1200000);
  CHECK(!scene.order->Take());
  CHECK(kill(member.pid(), 0) == 0);
  scene.Node("100");
  scene.Fire();  // a crossing of its own
  CHECK_EQUAL(scene.Done().candidate, 0u);
}

TEST("a value that reaches its limit just after the wake counts") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  CHECK(scene.Place(cgroup, scene.Plan(300 * kMillisecond)));
  scene.Fire();
  scene.Node("150");
  const StandingOrder::Result result = scene.Done();
  CHECK_EQUAL(result.candidate, 0u);
  CHECK(result.at_ns >= result.crossed_ns + 300 * kMillisecond);
  CHECK(WIFSIGNALED(member.Wait()));
}

TEST("a wake during the pass that an order is from counts") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  CHECK(scene.Place(cgroup, scene.Plan(50 * kMillisecond)));
  const uint64_t pass_ns = MonotonicNs();
  scene.Node("150");
  scene.Fire();
  CHECK(scene.Place(cgroup, scene.Plan(50 * kMillisecond), pass_ns));
  scene.order->Seen(pass_ns);
  CHECK_EQUAL(scene.Done().candidate, 0u);
}

TEST("a wake while no order stands counts if the pass that the next one is from began before") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  scene.Node("150");
  scene.Fire();
  CHECK(scene.Place(cgroup, scene.Plan(), MonotonicNs()));  // the pass began after the wake
  usleep(50000);
  CHECK(!scene.order->Take());
  CHECK(scene.order->Place(nullptr, 0));
  const uint64_t pass_ns = MonotonicNs();
  scene.Fire();
  CHECK(scene.Place(cgroup, scene.Plan(), pass_ns));
  CHECK_EQUAL(scene.Done().candidate, 0u);
  CHECK(WIFSIGNALED(member.Wait()));
}

TEST("an order waits for its other conditions, and for JavaScript that postpones it") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  scene.Sound("0");
  CHECK(scene.Place(cgroup, scene.Plan()));
  scene.Node("150");
  CHECK(scene.NothingHappens());
  const uint64_t until_ns = MonotonicNs() + 30 * kMillisecond;
  scene.order->Postpone(until_ns);
  scene.Sound("1");  // no further wake
  CHECK(scene.Done().at_ns >= until_ns);
}

TEST("one of the other conditions is enough") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  scene.Sound("0");
  const std::string other = scene.directory.File("other");
  CHECK(WriteText(other, "1\n"));
  auto plan = scene.Plan();
  plan->conditions.push_back({NumberIn(other), 1, 0});
  CHECK(scene.Place(cgroup, std::move(plan)));
  scene.Node("150");
  scene.Fire();
  CHECK_EQUAL(scene.Done().candidate, 0u);
}

TEST("the other conditions count for a time only") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  scene.Sound("0");
  auto plan = scene.Plan();
  plan->settles_ns = 30 * kMillisecond;
  CHECK(scene.Place(cgroup, std::move(plan)));
  scene.Node("150");
  scene.Fire();
  const StandingOrder::Result result = scene.Done();
  CHECK(result.at_ns - result.crossed_ns >= 30 * kMillisecond);
}

TEST("a result waits until it is taken, and no other order can be placed before") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  CHECK(scene.Place(cgroup, scene.Plan()));
  scene.Node("150");
  scene.Fire();
  CHECK(WIFSIGNALED(member.Wait()));
  EVENTUALLY(scene.order->wakes().Take().bits == 1u);
  CHECK(!scene.order->Place(scene.Plan(), MonotonicNs()));
  CHECK(!scene.order->Place(nullptr, 0));
  CHECK(scene.order->Take().has_value());
  CHECK(scene.order->Place(nullptr, 0));
}

}  // namespace evictd::test
