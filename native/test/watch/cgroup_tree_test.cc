#include "watch/linux/cgroup_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "waker.h"

namespace evictd::test {

namespace {

// inotify reports differently on v1 and v2.
std::vector<std::string> Hierarchies() {
  std::vector<std::string> found;
  for (const std::string mount : {kMemoryV1, "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    if (access((mount + "/cgroup.procs").c_str(), F_OK) == 0) found.push_back(mount);
  }
  if (found.empty()) Skip("no cgroups");
  return found;
}

void Make(const std::string& path) { CHECK_EQUAL(mkdir(path.c_str(), 0755), 0); }
void Drop(const std::string& path) { CHECK_EQUAL(rmdir(path.c_str()), 0); }

std::string Told(CgroupTree& tree) {
  std::string text;
  for (const CgroupTree::Change& change : tree.TakeChanges().list) {
    text += (change.appeared ? " +" : " -") + change.path;
  }
  return text;
}

}  // namespace

TEST("cgroups that appear and vanish are reported once and in order, below the root and what is followed") {
  for (const std::string& mount : Hierarchies()) {
    const Cgroup root(mount);
    Make(root.File("old"));
    Make(root.File("other"));
    CgroupTree tree(root.path(), false);
    CHECK_EQUAL(tree.Follow("old"), 0);
    CHECK_EQUAL(tree.Follow("none"), ENOENT);
    CHECK_EQUAL(Told(tree), "");
    Make(root.File("old/below"));
    Make(root.File("other/below"));
    Make(root.File("new"));
    CHECK_EQUAL(Told(tree), " +old/below +new");
    CHECK_EQUAL(tree.Follow("new"), 0);
    Make(root.File("new/one"));
    tree.Unfollow("old");
    for (const char* name : {"new/one", "new", "old/below", "old"}) Drop(root.File(name));
    CHECK_EQUAL(Told(tree), " +new/one -new/one -new -old");
  }
}

TEST("a change wakes, and a removed root is gone, for the waiter and for TakeChanges") {
  for (const std::string& mount : Hierarchies()) {
    Cgroup root(mount);
    const auto waker = std::make_shared<CountingWaker>();
    Waiter waiter(waker);
    const auto tree = std::make_shared<CgroupTree>(root.path(), true);
    CgroupTree asked(root.path(), false);
    const uint64_t id = waiter.Add(tree);
    Make(root.File("a"));
    EVENTUALLY(waker->notifications == 1);
    CHECK_EQUAL(tree->wakes().Take().bits, 1u);
    CHECK_EQUAL(Told(*tree), " +a");
    root.Remove();
    EVENTUALLY((tree->wakes().Take().bits & 2) != 0);
    EVENTUALLY(tree.use_count() == 1);
    CHECK_EQUAL(tree->error(), 0);
    for (CgroupTree* const gone : {tree.get(), &asked}) {
      CHECK(gone->TakeChanges().gone);
      CHECK(gone->TakeChanges().gone);
    }
    waiter.Remove(id);
    waiter.Remove(id);
  }
}

TEST("a root of v1 that is renamed is gone, and stays so") {
  const Cgroup parent(MemoryV1());
  Make(parent.File("root"));
  CgroupTree tree(parent.File("root"), false);
  CHECK_EQUAL(rename(parent.File("root").c_str(), parent.File("other").c_str()), 0);
  CHECK(tree.TakeChanges().gone);
  CHECK(tree.TakeChanges().gone);
}

// The kernel's queue holds 16384 by default.
TEST("more changes than the kernel queues are reported as lost, and what was followed still is, by its name") {
  const Cgroup root(Cgroup2());
  Make(root.File("stays"));
  Make(root.File("goes"));
  CgroupTree tree(root.path(), false);
  for (const char* name : {"stays", "goes"}) CHECK_EQUAL(tree.Follow(name), 0);
  for (int i = 0; i < 8200; i++) {
    Make(root.File("c" + std::to_string(i)));
    Drop(root.File("c" + std::to_string(i)));
  }
  Drop(root.File("goes"));
  Make(root.File("goes"));
  const CgroupTree::Changes changes = tree.TakeChanges();
  if (!changes.overflow) Skip("fs.inotify.max_queued_events is more than the default");
  CHECK(changes.list.empty() && !changes.gone);
  for (const char* name : {"stays/below", "goes/below"}) Make(root.File(name));
  CHECK_EQUAL(Told(tree), " +stays/below +goes/below");
}

TEST("a directory that is not a cgroup, or missing, cannot be watched") {
  const TemporaryDirectory directory;
  CHECK_EQUAL(ErrorOf([&] { CgroupTree(directory.path(), true); }), ENOENT);
  CHECK_EQUAL(ErrorOf([&] { CgroupTree(directory.File("none"), true); }), ENOENT);
  CHECK_EQUAL(ErrorOf([&] { CgroupTree("/proc/self/status", true); }), ENOTDIR);
}

}  // namespace evictd::test
