#include <sys/stat.h>
#include <sys/xattr.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kill/order_scene.h"

namespace evictd::test {

namespace {

void Mark(const std::string& cgroup, const std::string& value) {
  if (setxattr(cgroup.c_str(), kAttribute, value.data(), value.size(), 0) != 0) Skip("no attribute can be set here");
}

}  // namespace

TEST("nothing is killed where the largest, a cgroup in it or its namesake elsewhere has changed since") {
  const std::vector<std::function<void(const Cgroup&, const Cgroup&)>> changes = {
      [](const Cgroup& cgroup, const Cgroup&) { Mark(cgroup.path(), "1"); },
      [](const Cgroup& cgroup, const Cgroup&) { Mark(cgroup.File("inner"), "1"); },
      [](const Cgroup& cgroup, const Cgroup&) { Mark(cgroup.File("marked"), "other"); },
      [](const Cgroup& cgroup, const Cgroup&) { Mark(cgroup.File("marked"), std::string(300, 'x')); },
      [](const Cgroup& cgroup, const Cgroup&) { removexattr(cgroup.File("marked").c_str(), kAttribute); },
      [](const Cgroup& cgroup, const Cgroup&) { CHECK(mkdir(cgroup.File("new").c_str(), 0755) == 0); },
      [](const Cgroup&, const Cgroup& namesake) { Mark(namesake.path(), "1"); },
      [](const Cgroup&, const Cgroup&) {},
      [](const Cgroup& cgroup, const Cgroup&) { CHECK(rmdir(cgroup.File("inner").c_str()) == 0); },
  };
  for (size_t i = 0; i < changes.size(); i++) {
    OrderScene scene;
    const Cgroup cgroup(MemoryV1()), other(MemoryV1()), namesake(Cgroup2());
    for (const char* name : {"marked", "inner"}) CHECK(mkdir(cgroup.File(name).c_str(), 0755) == 0);
    Mark(cgroup.File("marked"), "some");
    const Member member(cgroup, kSleeps), spared(other, kSleeps);
    auto plan = scene.Plan();
    plan->candidates.push_back(scene.Candidate(cgroup, "one", "20"));
    plan->candidates.push_back(scene.Candidate(other, "other", "10"));
    auto handle = std::make_unique<CgroupHandle>(namesake.path());
    CgroupHandle::Contents contents = handle->Read({kAttribute});
    plan->candidates[0].elsewhere.push_back({std::move(handle), std::move(contents)});
    CHECK(scene.order->Place(std::move(plan), 0));
    changes[i](cgroup, namesake);
    scene.Node("150");
    scene.Fire();
    const bool is_same = i + 2 >= changes.size();  // a cgroup in it that is gone is no danger
    CHECK_EQUAL(scene.Done().candidate, is_same ? 0u : StandingOrder::kNone);
    CHECK(is_same || kill(member.pid(), 0) == 0);
    CHECK(kill(spared.pid(), 0) == 0);
    if (!is_same) CHECK_EQUAL(ReadText(scene.directory.File("record")), std::string(4096, '\0'));
  }
}

}  // namespace evictd::test
