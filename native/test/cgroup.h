#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace evictd::test {

constexpr char kMemoryV1[] = "/sys/fs/cgroup/memory";

// The cgroup2 mount, with or without controllers; skips the test where there is none.
std::string Cgroup2();

// Skips the test where there is no memory controller of cgroup v1.
std::string MemoryV1();

// A new cgroup (evictd-test-*) below `parent`. At the end whatever is in it is killed, and it is removed with the
// cgroups below it.
class Cgroup {
 public:
  explicit Cgroup(const std::string& parent);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

  std::vector<pid_t> Members() const;

  // Removes it and makes it anew under the same name.
  void Replace();

  // Kills and removes. Also called by the destructor.
  void Remove();

 private:
  std::string path_;
};

// A shell script as a member of a cgroup, already moved there when the constructor returns. At the end it is killed,
// with what it started, and waited for.
class Member {
 public:
  Member(const Cgroup& cgroup, const std::string& script);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  pid_t pid() const { return pid_; }

  // Waits for its end. Returns its status as wait reports it.
  int Wait();

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// A script for a Member that holds so many MiB of anonymous memory. `tail` keeps what it may not write yet.
std::string Holding(int mebibytes);

// Kills and removes the cgroups that a test process left behind because it was ended.
void RemoveCgroupsOf(pid_t test);

// The text of a file; empty where it cannot be read.
std::string ReadText(const std::string& path);

// Over what is there, without cutting it off first: a reader never sees an empty file, which no kernel file is. False
// where it cannot be written.
bool WriteText(const std::string& path, const std::string& text);

// A directory that is removed with what is in it, which has to be plain files.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace evictd::test
