#include "walk/linux/cgroup_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <string>

#include "cgroup.h"
#include "check.h"
#include "kill/linux/cgroup_handle.h"

namespace evictd::test {

namespace {

std::string AnyHierarchy() {
  return access((std::string(kMemoryV1) + "/cgroup.procs").c_str(), F_OK) == 0 ? kMemoryV1 : Cgroup2();
}

void Make(const std::string& path) { CHECK_EQUAL(mkdir(path.c_str(), 0755), 0); }

// Returns the path of the deepest.
std::string MakeChain(std::string path, int depth) {
  for (int level = 0; level < depth; level++) Make(path += "/d");
  return path;
}

UniqueFd Open(const Cgroup& cgroup) {
  return UniqueFd(open(cgroup.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

uint64_t InodeOf(int directory) {
  struct stat status = {};
  CHECK_EQUAL(fstat(directory, &status), 0);
  return status.st_ino;
}

int CountDescriptors() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) count++;
  closedir(directory);
  return count;
}

struct Walked {
  std::multiset<uint64_t> inodes;
  size_t passes = 0;
  int most_open = 0;     // descriptors during a visit
  int between_open = 0;  // and between two passes
};

// A round of passes of `most` visits.
Walked Round(CgroupWalk* walk, size_t most) {
  Walked walked;
  const int before = CountDescriptors();
  for (bool complete = false; !complete; walked.passes++) {
    const CgroupWalk::Pass pass = walk->Run(most, [&](int cgroup, bool) {
      walked.inodes.insert(InodeOf(cgroup));
      walked.most_open = std::max(walked.most_open, CountDescriptors() - before);
      return false;
    });
    CHECK_EQUAL(pass.error, 0);
    complete = pass.complete;
    walked.between_open = std::max(walked.between_open, CountDescriptors() - before);
  }
  return walked;
}

}  // namespace

TEST("each cgroup is visited once in a round, the root and hidden ones included, whatever the size of a pass") {
  const Cgroup root(AnyHierarchy());
  for (int i = 0; i < 40; i++) {
    const std::string child = root.File((i % 2 == 0 ? "." : "c") + std::to_string(i));
    Make(child);
    for (int j = 0; j < i % 4; j++) Make(child + "/" + std::to_string(j));
  }
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  for (const size_t most : {size_t{1}, size_t{2}, size_t{7}, size_t{100}, size_t{101}, CgroupWalk::kNoLimit}) {
    const Walked walked = Round(&walk, most);
    CHECK_EQUAL(walked.inodes.size(), size_t{101});
    CHECK_EQUAL(std::set<uint64_t>(walked.inodes.begin(), walked.inodes.end()).size(), size_t{101});
    CHECK_EQUAL(walked.passes, most == CgroupWalk::kNoLimit ? size_t{1} : 101 / most + 1);
  }
}

TEST("at any depth some few descriptors are open, and between two passes one") {
  const Cgroup root(AnyHierarchy());
  MakeChain(root.path(), 300);
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  const Walked walked = Round(&walk, 64);
  CHECK_EQUAL(walked.inodes.size(), size_t{301});
  CHECK(walked.most_open <= static_cast<int>(CgroupWalk::kOpenLevels) + 1);
  CHECK_EQUAL(walked.between_open, 1);
}

TEST("siblings are found again after a deep cgroup between them") {
  const Cgroup root(AnyHierarchy());
  for (int i = 0; i < 20; i++) {
    Make(root.File(std::to_string(i)));
    MakeChain(root.File(std::to_string(i)), i % 2 == 0 ? 0 : 12);
  }
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  for (const size_t most : {size_t{3}, CgroupWalk::kNoLimit}) {
    const Walked walked = Round(&walk, most);
    CHECK_EQUAL(walked.inodes.size(), size_t{1 + 20 + 120});
    CHECK_EQUAL(std::set<uint64_t>(walked.inodes.begin(), walked.inodes.end()).size(), walked.inodes.size());
  }
}

TEST("what is removed between two passes ends its part of the walk, and no more") {
  const Cgroup root(AnyHierarchy());
  for (const char* name : {"a", "b"}) {
    Make(root.File(name));
    MakeChain(root.File(name), 30);
  }
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  std::set<uint64_t> seen;
  const CgroupWalk::Visit see = [&](int cgroup, bool) {
    seen.insert(InodeOf(cgroup));
    return false;
  };
  CHECK(!walk.Run(20, see).complete);  // within the first of the two
  struct stat status = {};
  CHECK_EQUAL(stat(root.File("a").c_str(), &status), 0);
  std::string inner = root.File(seen.count(status.st_ino) != 0 ? "a" : "b");
  for (int level = 0; level < 30; level++) inner += "/d";
  for (int level = 0; level <= 30; level++, inner.resize(inner.rfind('/'))) CHECK_EQUAL(rmdir(inner.c_str()), 0);
  CgroupWalk::Pass pass;
  while (!pass.complete) pass = walk.Run(20, see);
  CHECK_EQUAL(pass.error, 0);
  CHECK_EQUAL(seen.size(), size_t{20 + 31});
}

TEST("rounds without a hit are counted, and a hit in any pass of a round begins anew") {
  const Cgroup root(AnyHierarchy());
  for (int i = 0; i < 9; i++) Make(root.File(std::to_string(i)));
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  const auto round = [&](int hit) {
    int visited = 0;
    while (!walk.Run(4, [&](int, bool) { return visited++ == hit; }).complete) continue;
    return walk.empty_rounds();
  };
  CHECK_EQUAL(round(-1), size_t{1});
  CHECK_EQUAL(round(-1), size_t{2});
  for (const int hit : {0, 5, 9}) {
    CHECK_EQUAL(round(hit), size_t{0});
    CHECK_EQUAL(round(-1), size_t{1});
  }
}

TEST("a cgroup that cannot be opened for want of descriptors is a failure, and its round is not empty") {
  const Cgroup root(AnyHierarchy());
  MakeChain(root.path(), 3);
  const UniqueFd directory = Open(root);
  CgroupWalk walk(directory.get());
  CHECK_EQUAL(Round(&walk, 2).inodes.size(), size_t{4});
  CHECK_EQUAL(walk.empty_rounds(), size_t{1});
  const rlimit none = {static_cast<rlim_t>(directory.get() + 1), 4096};
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
  const CgroupWalk::Pass pass = walk.Run(CgroupWalk::kNoLimit, [](int, bool) { return false; });
  CHECK_EQUAL(pass.error, EMFILE);
  CHECK_EQUAL(walk.empty_rounds(), size_t{0});
}

TEST("processes are found in the deepest of four hundred cgroups with a handful of descriptors") {
  const Cgroup root(AnyHierarchy());
  const std::string deepest = MakeChain(root.path(), 400);
  const Member member(root, "echo $$ > '" + deepest + "/cgroup.procs'; exec sleep 600");
  EVENTUALLY(ReadText(deepest + "/cgroup.procs") == std::to_string(member.pid()) + "\n");
  CgroupHandle handle(root.path());
  const rlimit few = {static_cast<rlim_t>(CountDescriptors() + 12), 4096};
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
  int error = 0;
  CHECK_EQUAL(handle.Processes(&error).size(), size_t{1});
  CHECK_EQUAL(error, 0);
  CHECK_EQUAL(handle.Signal(SIGKILL).signalled, size_t{1});
  EVENTUALLY(ReadText(deepest + "/cgroup.procs").empty());
}

TEST("more cgroups than a pass visits are signalled part by part, and each signal has its own walk") {
  const Cgroup root(AnyHierarchy());
  constexpr size_t kCgroups = CgroupWalk::kMostCgroups * 5 / 2;
  for (size_t i = 1; i < kCgroups; i++) Make(root.File("c" + std::to_string(i)));
  const Member member(root, "echo $$ > '" + root.File("c" + std::to_string(kCgroups / 2)) +
                                "/cgroup.procs'; trap : CONT; while :; do sleep 0.05; done");
  CgroupHandle handle(root.path());
  int error = 0;
  handle.Processes(&error);
  CHECK_EQUAL(error, EFBIG);
  handle.Processes(&error, CgroupWalk::kNoLimit);
  CHECK_EQUAL(error, 0);
  for (int round = 0; round < 2; round++) {
    size_t found[2] = {0, 0};
    for (int pass = 1; pass <= 3; pass++) {
      const int signals[2] = {0, SIGCONT};
      for (int i = 0; i < 2; i++) {
        const CgroupHandle::Signalled sent = handle.Signal(signals[i]);
        found[i] += sent.found;
        CHECK_EQUAL(sent.complete, pass == 3);
      }
    }
    CHECK(found[0] >= 1 && found[1] >= 1);
  }
}

}  // namespace evictd::test
