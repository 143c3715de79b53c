#include "cgroup.h"

#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "check.h"
#include "system/linux/unique_fd.h"

namespace evictd::test {

namespace {

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<pid_t> MembersOf(const std::string& path) {
  std::istringstream listed(ReadText(path + "/cgroup.procs"));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; listed >> pid;) pids.push_back(pid);
  return pids;
}

constexpr char kPrefix[] = "evictd-test-";

// Not by the code under test. Child cgroups first.
void KillAndRemove(const std::string& path) {
  glob_t below = {};
  if (glob((path + "/{*,.[!.]*}/").c_str(), GLOB_ONLYDIR | GLOB_BRACE, nullptr, &below) == 0) {
    for (size_t i = 0; i < below.gl_pathc; i++) KillAndRemove(below.gl_pathv[i]);
  }
  globfree(&below);
  WriteText(path + "/freezer.state", "THAWED");  // in a v1 freezer: a frozen process does not die
  // EBUSY until the last killed process has exited.
  for (int attempts = 0; attempts < 2000 && rmdir(path.c_str()) != 0 && errno != ENOENT; attempts++) {
    for (const pid_t pid : MembersOf(path)) kill(pid, SIGKILL);
    usleep(5000);
  }
}

}  // namespace

std::string Cgroup2() {
  for (const char* mount : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    if (Exists(std::string(mount) + "/cgroup.controllers")) return mount;
  }
  Skip("no cgroup2 is mounted");
}

std::string MemoryV1() {
  if (!Exists(std::string(kMemoryV1) + "/cgroup.event_control")) Skip("no memory controller of cgroup v1");
  return kMemoryV1;
}

std::string FreezerV1() {
  const std::string freezer = "/sys/fs/cgroup/freezer";
  if (!Exists(freezer + "/cgroup.procs")) Skip("no freezer of cgroup v1");
  return freezer;
}

Cgroup::Cgroup(const std::string& parent) {
  static std::atomic<int> made{0};
  path_ = parent + "/" + kPrefix + std::to_string(getpid()) + "-" + std::to_string(++made);
  if (mkdir(path_.c_str(), 0755) != 0) throw SystemError(errno, "mkdir", path_);
}

Cgroup::~Cgroup() { Remove(); }

void Cgroup::Replace() {
  Remove();
  if (mkdir(path_.c_str(), 0755) != 0) throw SystemError(errno, "mkdir", path_);
}

void Cgroup::Remove() { KillAndRemove(path_); }

void RemoveCgroupsOf(pid_t test) {
  glob_t found = {};
  const std::string pattern = "/sys/fs/cgroup{,/*}/" + std::string(kPrefix) + std::to_string(test) + "-*";
  if (glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; i++) KillAndRemove(found.gl_pathv[i]);
  }
  globfree(&found);
}

std::vector<pid_t> Cgroup::Members() const { return MembersOf(path_); }

Member::Member(const Cgroup& cgroup, const std::string& script) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError(errno, "pipe2");
  const UniqueFd ready(ends[0]);
  UniqueFd said(ends[1]);
  const std::string text =
      "echo $$ > '" + cgroup.File("cgroup.procs") + "' && echo joined || exit 1\nexec >/dev/null\n" + script;
  const char* const arguments[] = {"sh", "-c", text.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, said.get(), STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, const_cast<char* const*>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw SystemError(error, "posix_spawn");
  said.Reset();
  char byte = 0;
  if (read(ready.get(), &byte, 1) != 1) Fail(__FILE__, __LINE__, "no process could be started in " + cgroup.path());
}

Member::~Member() {
  if (ended_) return;
  kill(-pid_, SIGKILL);
  Wait();
}

int Member::Wait() {
  while (!ended_) ended_ = waitpid(pid_, &status_, 0) == pid_;
  return status_;
}

std::string Holding(int mebibytes) {
  const std::string bytes = std::to_string(mebibytes) + "M";
  return "head -c " + bytes + " /dev/zero | tail -c " + bytes + " | sleep 600";
}

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool WriteText(const std::string& path, const std::string& text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

TemporaryDirectory::TemporaryDirectory(const std::string& parent) {
  std::string name = parent + "/evictd-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw SystemError(errno, "mkdtemp", name);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  const std::string command = "rm -rf '" + path_ + "'";
  if (system(command.c_str()) != 0) perror(path_.c_str());
}

}  // namespace evictd::test
