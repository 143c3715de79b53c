#include "walk/linux/filesystem_tree.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cgroup.h"
#include "check.h"
#include "waker.h"
#include "walk/linux/background_walk.h"

namespace evictd::test {

namespace {

using TreeReading = BackgroundReading<FilesystemTree::Result>;

FilesystemTree::Limits Limits(uint64_t entries) { return {2, 1'000'000, std::chrono::minutes(1), entries}; }

TreeReading::Work WalkOf(const std::string& path) {
  return [path](const auto& cancelled) { return FilesystemTree(path, Limits(200'000)).Run(cancelled); };
}

}  // namespace

TEST("a tree is walked from its root, and reported down to the requested depth") {
  const std::atomic<bool> cancelled(false);
  const auto slashes = [](const std::string& path) { return std::count(path.begin(), path.end(), '/'); };
  const FilesystemTree::Result result = FilesystemTree("/usr/lib", Limits(20'000)).Run(cancelled);
  CHECK(result.directories.size() > 1);
  const std::string root = result.directories[0].path;
  CHECK(std::string("/usr/lib").compare(0, root.size(), root) == 0);
  for (const FilesystemTree::Directory& each : result.directories) CHECK(slashes(each.path) <= slashes(root) + 2);
}

TEST("a missing path has no tree") {
  const std::atomic<bool> cancelled(false);
  const FilesystemTree::Result result = FilesystemTree("/evictd-test-nowhere", Limits(1)).Run(cancelled);
  CHECK(result.directories.empty());
  CHECK(result.first_error == 2);
}

TEST("trees are cancelled at any time, and their threads end") {
  const auto waker = std::make_shared<CountingWaker>();
  for (int round = 0; round < 30; round++) {
    BackgroundWalks walks(waker);
    std::optional<TreeReading> first(std::in_place, "/usr", WalkOf("/usr"), &walks);
    const TreeReading second("/proc", WalkOf("/proc"), &walks);
    if (round % 2 == 0) usleep(1000);
    first.reset();
  }
  EVENTUALLY(waker.use_count() == 1);
}

}  // namespace evictd::test
