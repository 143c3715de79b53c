#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "held_calls.h"
#include "kill/frozen.h"
#include "kill/order_scene.h"
#include "system/clock.h"
#include "walk/linux/cgroup_walk.h"

namespace evictd::test {

TEST("nothing is killed where a candidate vanished or was replaced, or where the largest has no process") {
  for (const char* gone : {"vanished", "replaced", "empty"}) {
    OrderScene scene;
    Cgroup changed(MemoryV1());
    const Cgroup other(MemoryV1());
    const Member spared(other, kSleeps);
    auto plan = scene.Plan();
    plan->candidates.push_back(scene.Candidate(changed, "changed", "20"));
    plan->candidates.push_back(scene.Candidate(other, "other", "10"));
    // The kernel's own file, which goes with its cgroup.
    if (gone[0] == 'v') plan->candidates[0].value = NumberIn(changed.File("memory.limit_in_bytes"));
    CHECK(scene.order->Place(std::move(plan), 0));
    if (gone[0] == 'v') changed.Remove();
    if (gone[0] == 'r') changed.Replace();
    std::optional<Member> newcomer;
    if (gone[0] == 'r') newcomer.emplace(changed, kSleeps);
    scene.Node("150");
    scene.Fire();
    CHECK(scene.Done().candidate == StandingOrder::kNone);
    CHECK(kill(spared.pid(), 0) == 0);
    if (newcomer) CHECK(kill(newcomer->pid(), 0) == 0);
    CHECK_EQUAL(ReadText(scene.directory.File("record")), std::string(4096, '\0'));
  }
}

TEST("a crossing that an outdated order has not answered counts for the next one, unless JavaScript has looked since") {
  for (const bool seen : {false, true}) {
    OrderScene scene;
    Cgroup gone(MemoryV1());
    const Cgroup other(MemoryV1());
    Member member(other, kSleeps);
    auto plan = scene.Plan();
    plan->candidates.push_back(scene.Candidate(gone, "gone", "20"));
    plan->candidates[0].value = NumberIn(gone.File("memory.limit_in_bytes"));
    CHECK(scene.order->Place(std::move(plan), 0));
    gone.Remove();
    scene.Node("150");
    scene.Fire();
    CHECK(scene.Done().candidate == StandingOrder::kNone);
    CHECK(scene.Place(other, scene.Plan(), seen ? MonotonicNs() : 0));
    if (seen) {
      usleep(30'000);
      CHECK(!scene.order->Take().has_value());
      CHECK(kill(member.pid(), 0) == 0);
    } else {
      CHECK_EQUAL(scene.Done().candidate, 0u);
      CHECK_EQUAL(member.Wait(), SIGKILL);
    }
  }
}

TEST("a wake that is heard of after JavaScript has looked counts only if it is not from before that look") {
  for (const bool placed : {false, true}) {
    OrderScene scene;
    const Cgroup cgroup(MemoryV1());
    Member member(cgroup, kSleeps);
    scene.Node("150");
    const uint64_t seen_ns = MonotonicNs();
    CHECK(scene.Place(cgroup, scene.Plan(), placed ? seen_ns : 0));
    if (!placed) scene.order->Seen(seen_ns);
    scene.order->WatchWoke(seen_ns - 1);
    usleep(30'000);
    CHECK(!scene.order->Take().has_value());
    scene.order->WatchWoke(seen_ns);
    CHECK_EQUAL(scene.Done().candidate, 0u);
    CHECK_EQUAL(member.Wait(), SIGKILL);
  }
}

TEST("nothing is killed where the node has grown by more than the candidates have and the largest holds") {
  for (const bool outside : {false, true}) {
    OrderScene scene;
    const Cgroup large(MemoryV1()), small(MemoryV1());
    const Member first(large, kSleeps), second(small, kSleeps);
    auto plan = scene.Plan();
    plan->conditions[0].first = 60;
    plan->candidates.push_back(scene.Candidate(large, "large", outside ? "20" : "75"));
    plan->candidates.push_back(scene.Candidate(small, "small", "10"));
    plan->candidates[0].first = 20;
    plan->candidates[1].first = 10;
    CHECK(scene.order->Place(std::move(plan), 0));
    scene.Node("120");
    scene.Fire();
    CHECK_EQUAL(scene.Done().candidate, outside ? StandingOrder::kNone : 0u);
    CHECK(!outside || kill(first.pid(), 0) == 0);
    CHECK(kill(second.pid(), 0) == 0);
  }
}

TEST("where something else than the candidates has grown, JavaScript has more time") {
  for (const bool outside : {false, true}) {
    OrderScene scene;
    const Cgroup cgroup(MemoryV1());
    Member member(cgroup, kSleeps);
    auto plan = scene.Plan();
    plan->conditions[0].first = 60;
    plan->unexplained_ns = outside ? 300 * kMillisecond : kForever / 2;
    plan->slack = 5;
    plan->candidates.push_back(scene.Candidate(cgroup, "one", outside ? "65" : "90"));
    plan->candidates[0].first = 35;
    CHECK(scene.order->Place(std::move(plan), 0));
    scene.Node("120");
    scene.Fire();
    const StandingOrder::Result result = scene.Done();
    CHECK_EQUAL(result.candidate, 0u);
    CHECK(!outside || result.at_ns >= result.crossed_ns + 300 * kMillisecond);
    CHECK(WIFSIGNALED(member.Wait()));
  }
}

TEST("a refusal is reported, and no other workload is killed instead") {
  OrderScene scene;
  const Cgroup own(MemoryV1()), other(MemoryV1());
  const Member member(other, kSleeps);
  CHECK(WriteText(own.File("cgroup.procs"), std::to_string(getpid())));
  auto plan = scene.Plan();
  plan->candidates.push_back(scene.Candidate(own, "own", "20"));
  plan->candidates.push_back(scene.Candidate(other, "other", "10"));
  plan->by_file = true;
  CHECK(scene.order->Place(std::move(plan), 0));
  scene.Node("150");
  scene.Fire();
  const StandingOrder::Result result = scene.Done();
  CHECK(WriteText(std::string(kMemoryV1) + "/cgroup.procs", std::to_string(getpid())));
  CHECK_EQUAL(result.candidate, 0u);
  CHECK_EQUAL(result.error, EPERM);
  CHECK(kill(member.pid(), 0) == 0);
}

TEST("of a deep candidate a part is listed: cgroup.kill ends all of it, and signals spare this process") {
  for (const bool own : {false, true}) {
    OrderScene scene;
    const Cgroup cgroup(Cgroup2());
    std::string deepest = cgroup.path();
    for (size_t level = 0; level < CgroupWalk::kMostCgroups; level++) {
      deepest += "/c";
      CHECK(mkdir(deepest.c_str(), 0755) == 0);
    }
    Member member(cgroup, own ? "exit" : "echo $$ > '" + deepest + "/cgroup.procs'; exec sleep 1000");
    if (own) {
      member.Wait();
      CHECK(WriteText(deepest + "/cgroup.procs", std::to_string(getpid())));
    }
    auto plan = scene.Plan();
    plan->by_file = true;
    plan->apart = !own;
    EVENTUALLY(!ReadText(deepest + "/cgroup.procs").empty());
    CHECK(scene.Place(cgroup, std::move(plan)));
    scene.Node("150");
    scene.Fire();
    const StandingOrder::Result result = scene.Done();
    if (own) CHECK(WriteText(Cgroup2() + "/cgroup.procs", std::to_string(getpid())));
    CHECK_EQUAL(result.processes, 0u);
    CHECK_EQUAL(result.error, own ? EPERM : 0);
    CHECK(own || WIFSIGNALED(member.Wait()));
  }
}

TEST("while descriptors are short nothing is killed or recorded, and it is tried again until there are some") {
  OrderScene scene;
  const Cgroup first(MemoryV1()), second(MemoryV1());
  Member before(first, kSleeps), member(second, kSleeps);
  // The sanitizer needs descriptors for what it checks for the first time.
  CHECK(scene.Place(first, scene.Plan()));
  scene.Node("150");
  scene.Fire();
  CHECK_EQUAL(scene.Done().error, 0);

  const UniqueFd record(open(scene.directory.File("record").c_str(), O_RDWR | O_CLOEXEC));
  const uint64_t none = 0;
  uint64_t crossed_ns = 1;
  CHECK(pwrite(record.get(), &none, sizeof none, 0) == sizeof none);
  CHECK(scene.Place(second, scene.Plan()));
  rlimit limit = {};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit no_more = {0, limit.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  CHECK(scene.NothingHappens());
  CHECK(pread(record.get(), &crossed_ns, sizeof crossed_ns, 0) == sizeof crossed_ns);
  CHECK_EQUAL(crossed_ns, 0u);
  CHECK(kill(member.pid(), 0) == 0);
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK_EQUAL(scene.Done().error, 0);
  CHECK(WIFSIGNALED(member.Wait()));
}

TEST("a shortage after the first signals does not spare the other processes") {
  // Before the waiter's thread starts, which takes over the filter.
  HeldCalls held(SYS_pidfd_open, [](int call) { return call == 0 ? ENOMEM : 0; });
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  const Member first(cgroup, "exec sleep 1000"), second(cgroup, "exec sleep 1000");
  CHECK(scene.Place(cgroup, scene.Plan()));
  scene.Node("150");
  scene.Fire();
  CHECK_EQUAL(scene.Done().error, 0);
  EVENTUALLY(cgroup.Members().empty());
}

TEST("cgroup.kill ends the candidate where it exists, and signals where it does not") {
  for (const std::string& parent : {Cgroup2(), MemoryV1()}) {
    OrderScene scene;
    const Cgroup cgroup(parent);
    Member member(cgroup, kSleeps);
    auto plan = scene.Plan();
    plan->by_file = true;
    CHECK(scene.Place(cgroup, std::move(plan)));
    scene.Node("150");
    scene.Fire();
    CHECK_EQUAL(scene.Done().error, 0);
    CHECK(WIFSIGNALED(member.Wait()));
  }
}

TEST("what cgroup.kill has killed has its memory released before it is scheduled") {
  const auto reaper = std::make_shared<MemoryReaper>();
  OrderScene scene(reaper);
  const Cgroup cgroup(Cgroup2()), freezer(FreezerV1());
  const Member member(cgroup, "exec sleep 1000");
  CHECK(WriteText(freezer.File("cgroup.procs"), std::to_string(member.pid())));
  const Frozen frozen(freezer);
  auto plan = scene.Plan();
  plan->by_file = true;
  CHECK(scene.Place(cgroup, std::move(plan)));
  scene.Node("150");
  scene.Fire();
  CHECK_EQUAL(scene.Done().error, 0);
  EVENTUALLY(reaper->counts().released == 1);
}

TEST("the record cannot be written: the eviction happens, and it is reported") {
  OrderScene scene;
  const auto order = std::make_shared<StandingOrder>("/dev/full", nullptr);
  scene.order = order;
  scene.waiter.Add(order);  // the last one that follows
  const Cgroup cgroup(MemoryV1());
  Member member(cgroup, kSleeps);
  auto plan = scene.Plan();
  CHECK(scene.Place(cgroup, std::move(plan)));
  scene.Node("150");
  scene.Fire();
  CHECK_EQUAL(scene.Done().unrecorded, ENOSPC);
  CHECK(WIFSIGNALED(member.Wait()));
}

TEST("a file that does not exist") {
  CHECK_EQUAL(ErrorOf([] { StandingOrder("/proc/none", nullptr); }), ENOENT);
}

TEST("the node's cgroup is removed: nothing is carried out") {
  OrderScene scene;
  Cgroup node(MemoryV1());
  const Cgroup cgroup(MemoryV1());
  const Member member(cgroup, kSleeps);
  auto plan = scene.Plan();
  plan->conditions[0] = {NumberIn(node.File("memory.usage_in_bytes")), -1, 0};
  CHECK(scene.Place(cgroup, std::move(plan)));
  node.Remove();
  CHECK(scene.NothingHappens());
}

TEST("orders are placed, withdrawn and taken by one thread while watches wake") {
  OrderScene scene;
  const Cgroup cgroup(MemoryV1());
  scene.Node("150");
  std::atomic<bool> over{false};
  std::thread ringing([&] {
    while (!over) scene.watch->Fire();
  });
  for (int i = 0; i < 300; i++) {
    static_cast<void>(scene.Place(cgroup, scene.Plan(static_cast<uint64_t>(i % 3) * 100000), MonotonicNs()));
    scene.order->Postpone(MonotonicNs() + 100000);
    usleep(static_cast<useconds_t>(i % 7) * 50);
    scene.order->Seen(MonotonicNs());
    if (!scene.order->Place(nullptr, 0)) CHECK(scene.order->Take().has_value());
    scene.order->wakes().Take();
  }
  over = true;
  ringing.join();
}

}  // namespace evictd::test
