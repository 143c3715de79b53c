#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace evictd::test {

constexpr char kMemoryV1[] = "/sys/fs/cgroup/memory";

// The cgroup2 mount, with or without controllers; skips the test if there is none.
std::string Cgroup2();

// Skips the test without a memory controller of cgroup v1.
std::string MemoryV1();

// Skips the test without a freezer of cgroup v1.
std::string FreezerV1();

// A new cgroup (evictd-test-*) below `parent`. The destructor kills its processes and removes it with its children.
class Cgroup {
 public:
  explicit Cgroup(const std::string& parent);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

  std::vector<pid_t> Members() const;

  // Removes it and creates it again under the same name.
  void Replace();

  // Kills and removes. The destructor calls it too.
  void Remove();

 private:
  std::string path_;
};

// A shell script that is a member of a cgroup when the constructor returns. The destructor kills it with its children
// and waits for it.
class Member {
 public:
  Member(const Cgroup& cgroup, const std::string& script);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  pid_t pid() const { return pid_; }

  // Waits for its exit. Returns the status that wait reports.
  int Wait();

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// A Member's script that holds this many MiB of anonymous memory: `tail` keeps what it may not write yet.
std::string Holding(int mebibytes);

// Kills and removes the cgroups of a test process that was killed.
void RemoveCgroupsOf(pid_t test);

// The text of a file; empty if it cannot be read.
std::string ReadText(const std::string& path);

// Overwrites without truncating first: a reader never sees an empty file, just as with kernel files. Returns false on
// failure.
bool WriteText(const std::string& path, const std::string& text);

// A directory that is removed at the end, with all in it.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent = "/tmp");
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace evictd::test
