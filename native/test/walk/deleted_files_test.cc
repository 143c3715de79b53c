#include "walk/linux/deleted_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "system/linux/unique_fd.h"

namespace evictd::test {

namespace {

constexpr size_t kHeldBytes = 1 << 20;

// The group held by exactly these processes; all zero if there is none.
DeletedFiles::Group HeldBy(const std::string& path, std::vector<pid_t> holders) {
  const std::atomic<bool> cancelled{false};
  for (const DeletedFiles::Group& group : DeletedFiles(path).Run(cancelled).groups) {
    if (group.holders == holders) return group;
  }
  return {};
}

UniqueFd Held(const TemporaryDirectory& directory, const char* name) {
  UniqueFd file(open(directory.File(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string text(kHeldBytes, 'x');
  CHECK(write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  CHECK(fsync(file.get()) == 0);  // before this its blocks may not be counted
  return file;
}

}  // namespace

TEST("a deleted file that is open counts once, for all its holders together") {
  const TemporaryDirectory directory;
  const std::vector<pid_t> me = {getpid()};
  const uint64_t before = HeldBy(directory.path(), me).bytes;
  const UniqueFd file = Held(directory, "held");
  const UniqueFd second(dup(file.get()));
  CHECK_EQUAL(HeldBy(directory.path(), me).bytes, before);  // it has a name
  CHECK(unlink(directory.File("held").c_str()) == 0);
  CHECK(HeldBy(directory.path(), me).bytes >= before + kHeldBytes);

  std::array<int, 2> pipe_ends = {};
  CHECK(pipe(pipe_ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[1]);
    char byte = 0;
    _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(pipe_ends[0]);
  CHECK_EQUAL(HeldBy(directory.path(), me).bytes, before);
  CHECK(HeldBy(directory.path(), {getpid(), child}).bytes >= kHeldBytes);
  close(pipe_ends[1]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(HeldBy(directory.path(), me).bytes >= before + kHeldBytes);
}

TEST("beyond the limit of holders the answer is not complete, and a file with a holder too many is left out") {
  const TemporaryDirectory directory;
  const UniqueFd file = Held(directory, "held");
  CHECK(unlink(directory.File("held").c_str()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::atomic<bool> cancelled{false};
  // Other processes of the machine may hold deleted files, too, which only makes the limit come sooner.
  for (const size_t most : {0, 1}) {
    const DeletedFiles::Result result = DeletedFiles(directory.path(), most).Run(cancelled);
    size_t holders = 0;
    for (const DeletedFiles::Group& group : result.groups) {
      holders += group.holders.size() * group.inodes;
      CHECK(group.holders != std::vector<pid_t>{getpid()});
    }
    CHECK(!result.complete);
    CHECK(holders <= most);
  }
  CHECK(HeldBy(directory.path(), {getpid(), child}).bytes >= kHeldBytes);
  CHECK(kill(child, SIGKILL) == 0);
  CHECK(waitpid(child, nullptr, 0) == child);
}

TEST("a file that is named deleted, has another link or is on another filesystem does not count") {
  const TemporaryDirectory directory;
  const std::vector<pid_t> me = {getpid()};
  const uint64_t before = HeldBy(directory.path(), me).inodes;
  const UniqueFd called = Held(directory, "file (deleted)");
  const UniqueFd linked = Held(directory, "linked");
  CHECK(link(directory.File("linked").c_str(), directory.File("other").c_str()) == 0);
  CHECK(unlink(directory.File("linked").c_str()) == 0);
  CHECK_EQUAL(HeldBy(directory.path(), me).inodes, before);
  const UniqueFd deleted = Held(directory, "deleted");
  CHECK(unlink(directory.File("deleted").c_str()) == 0);
  CHECK_EQUAL(HeldBy(directory.path(), me).inodes, before + 1);
  CHECK_EQUAL(HeldBy("/proc", me).inodes, uint64_t{0});
}

TEST("the answer for a missing filesystem is not complete") {
  const std::atomic<bool> cancelled{false};
  CHECK(!DeletedFiles("/nowhere/at/all").Run(cancelled).complete);
  const std::atomic<bool> given_up{true};
  CHECK(!DeletedFiles("/").Run(given_up).complete);
}

}  // namespace evictd::test
