#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "system/error_text.h"
#include "waker.h"
#include "watch/linux/armer.h"
#include "watch/linux/cgroup_tree.h"

// Trees that several threads read, add and close while cgroups come and go below them.

namespace evictd::test {

namespace {

// Cgroups on two levels come and go, for some rounds.
class Storm {
 public:
  explicit Storm(const Cgroup& root, int rounds = INT_MAX) : outer_(root.File("a")), thread_([=] { Run(rounds); }) {}
  ~Storm() {
    stop_ = true;
    thread_.join();
  }

  bool over() const { return over_; }

 private:
  void Run(int rounds) {
    for (int round = 0; round < rounds && !stop_; round++) {
      CHECK(mkdir(outer_.c_str(), 0755) == 0 && mkdir(inner_.c_str(), 0755) == 0);
      CHECK(rmdir(inner_.c_str()) == 0 && rmdir(outer_.c_str()) == 0);
    }
    over_ = true;
  }

  const std::string outer_;
  const std::string inner_ = outer_ + "/b";
  std::atomic<bool> stop_{false};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// As its user does: what appears is followed, then listed.
void Update(CgroupTree* tree, std::set<std::string>* known) {
  const CgroupTree::Changes changes = tree->TakeChanges();
  CHECK(!changes.overflow && !changes.gone);
  for (const CgroupTree::Change& change : changes.list) {
    known->erase(change.path);
    known->erase(known->lower_bound(change.path + "/"), known->lower_bound(change.path + "0"));  // all below it
    if (!change.appeared) continue;
    known->insert(change.path);
    if (change.path == "a") tree->Follow("a");
  }
}

}  // namespace

TEST("each change is returned once, though several threads and the waiter read them") {
  constexpr int kRounds = 500;
  const Cgroup root(Cgroup2());
  Waiter waiter(std::make_shared<CountingWaker>());
  const auto tree = std::make_shared<CgroupTree>(root.path(), true);
  waiter.Add(tree);
  std::atomic<int> appeared{0};
  std::atomic<int> vanished{0};
  const auto take = [&] {
    for (const CgroupTree::Change& change : tree->TakeChanges().list) (change.appeared ? appeared : vanished)++;
  };
  const Storm storm(root, kRounds);
  std::thread other([&] {
    while (!storm.over()) take();
  });
  while (!storm.over()) take();
  other.join();
  take();
  CHECK_EQUAL(appeared.load(), kRounds);
  CHECK_EQUAL(vanished.load(), kRounds);
}

TEST("the known tree is right after a storm of changes") {
  const Cgroup root(Cgroup2());
  Waiter waiter(std::make_shared<CountingWaker>());
  const auto tree = std::make_shared<CgroupTree>(root.path(), true);
  waiter.Add(tree);
  std::set<std::string> known;
  {
    const Storm storm(root, 500);
    while (!storm.over()) Update(tree.get(), &known);
  }
  CHECK_EQUAL(mkdir(root.File("a").c_str(), 0755), 0);
  Update(tree.get(), &known);
  CHECK_EQUAL(mkdir(root.File("a/b").c_str(), 0755), 0);
  Update(tree.get(), &known);
  CHECK(known == std::set<std::string>({"a", "a/b"}));
}

TEST("trees are added, woken and closed by two threads while cgroups storm, and the owners end with some at work") {
  const Cgroup root(Cgroup2());
  const Storm storm(root);
  for (int round = 0; round < 3; round++) {
    const auto waker = std::make_shared<CountingWaker>();
    Waiter waiter(waker);
    Armer armer(&waiter);
    const auto watch = [&] {
      for (int i = 0; i < 4; i++) {
        auto tree = std::make_shared<CgroupTree>(root.path(), true);
        const uint64_t id = waiter.Add(tree);
        if (i > 0) EVENTUALLY(tree->wakes().Take().bits == 1);
        tree->TakeChanges();
        tree->Follow("a");
        if (i % 2 == 0) tree->Unfollow("a");
        if (i == 3) continue;  // the waiter's destructor finds it in the set
        waiter.Remove(id);
        waiter.Remove(id);
        armer.Release(std::move(tree));
      }
    };
    std::thread other(watch);
    watch();
    other.join();
  }
}

TEST("a root is removed and created again while it is watched by name") {
  const Cgroup parent(Cgroup2());
  const std::string root = parent.File("root");
  Waiter waiter(std::make_shared<CountingWaker>());
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    for (int i = 0; i < 40; i++) {  // closing one waits for the kernel
      const int error = ErrorOf([&] {
        const auto tree = std::make_shared<CgroupTree>(root, true);
        const uint64_t id = waiter.Add(tree);
        if (tree->TakeChanges().gone) waiter.Post(id, Wake::kGone, 0);
        waiter.Remove(id);
      });
      if (error != 0 && error != ENOENT && error != ENODEV) Fail(__FILE__, __LINE__, ErrorName(error));
    }
    over = true;
  });
  while (!over) {
    CHECK(mkdir(root.c_str(), 0755) == 0 && usleep(50) == 0);
    CHECK(rmdir(root.c_str()) == 0 && usleep(50) == 0);
  }
  watcher.join();
}

}  // namespace evictd::test
