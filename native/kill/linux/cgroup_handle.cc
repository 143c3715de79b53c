#include "kill/linux/cgroup_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <new>
#include <unordered_set>
#include <utility>

#include "kill/linux/cgroup_processes.h"
#include "kill/linux/process.h"
#include "system/clock.h"
#include "system/linux/shortage.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// pidfds held at a time. Each batch costs one more reading of all processes, so there are few batches; each pidfd costs
// the kernel a KiB, so not all are held at once.
constexpr size_t kLeastBatch = 512;
constexpr size_t kMostBatches = 4;

struct Opened {
  pid_t pid = 0;
  UniqueFd pidfd;
};

// A shortage replaces other errors: it decides whether a retry makes sense.
void KeepError(int error, int* kept) {
  if (error == 0 || error == ESRCH) return;
  if (*kept == 0 || (IsShortage(error) && !IsShortage(*kept))) *kept = error;
}

// A threaded cgroup has no list: its processes are listed by the domain above it.
int ReadMembers(int cgroup, bool is_root, std::vector<pid_t>* pids) {
  const int error = ReadProcesses(cgroup, pids);
  return error == EOPNOTSUPP && !is_root ? 0 : error;
}

// Adds the attributes of a cgroup that are set. Returns 0 or errno.
int ReadMarks(int cgroup, uint64_t inode, const std::vector<std::string>& attributes,
              std::vector<std::string>* marked) {
  char value[256];
  for (const std::string& name : attributes) {
    const ssize_t length = fgetxattr(cgroup, name.c_str(), value, sizeof value);
    if (length < 0 && (errno == ENODATA || errno == ENOTSUP)) continue;
    if (length < 0 && errno != ERANGE) return HasVanished(errno) ? 0 : errno;
    std::string& mark = marked->emplace_back(std::to_string(inode));
    mark.append(" ").append(name).append("=");
    if (length < 0) {
      mark.append("too long");
    } else {
      mark.append(value, static_cast<size_t>(length));
    }
  }
  return 0;
}

// Each pid once. 0 stands for each process without a number in this pid namespace: those stay.
void SortPids(std::vector<pid_t>* pids) {
  std::sort(pids->begin(), pids->end());
  const auto numbered = std::upper_bound(pids->begin(), pids->end(), 0);
  pids->erase(std::unique(numbered, pids->end()), pids->end());
}

}  // namespace

CgroupHandle::CgroupHandle(const std::string& cgroup, std::optional<uint64_t> id)
    : path_(cgroup), directory_(open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!directory_) throw SystemError(errno, "open", path_);
  struct stat status = {};
  if (fstat(directory_.get(), &status) != 0) throw SystemError(errno, "fstat", path_);
  id_ = status.st_ino;
  if (id && *id != id_) throw SystemError(ESTALE, "open", path_);
  freezer_.emplace(directory_.get(), path_);
}

std::vector<pid_t> CgroupHandle::Processes(int* error, size_t most) const {
  std::vector<pid_t> pids;
  *error = 0;
  CgroupWalk walk(directory_.get());
  const CgroupWalk::Pass pass = walk.Run(most, [&](int cgroup, bool is_root) {
    const int failed = ReadMembers(cgroup, is_root, &pids);
    if (*error == 0) *error = failed;
    return true;
  });
  if (*error == 0) *error = pass.error;
  if (*error == 0 && !pass.complete) *error = EFBIG;
  SortPids(&pids);
  return pids;
}

CgroupHandle::Contents CgroupHandle::Read(const std::vector<std::string>& attributes, size_t most) const {
  Contents contents;
  CgroupWalk walk(directory_.get());
  const CgroupWalk::Pass pass = walk.Run(most, [&](int cgroup, bool) {
    struct stat status = {};
    int error = fstat(cgroup, &status) == 0 ? 0 : errno;
    if (error == 0) error = ReadMarks(cgroup, status.st_ino, attributes, &contents.marked);
    if (contents.error == 0) contents.error = error;
    contents.newest = std::max<uint64_t>(contents.newest, status.st_ino);
    return true;
  });
  if (contents.error == 0) contents.error = pass.error;
  std::sort(contents.marked.begin(), contents.marked.end());
  return contents;
}

CgroupHandle::Signalled CgroupHandle::Signal(int signal, MemoryReaper* reaper) {
  Signalled result;
  try {
    SignalPass(signal, reaper, &result);
  } catch (const std::bad_alloc&) {
    // Not an exception: some processes may have got the signal.
    KeepError(ENOMEM, &result.error);
    walks_.erase(signal);  // the next pass begins at the root
  }
  return result;
}

void CgroupHandle::SignalPass(int signal, MemoryReaper* reaper, Signalled* result) {
  CgroupWalk& walk = walks_.try_emplace(signal, directory_.get()).first->second;
  std::unordered_set<pid_t> seen;
  std::vector<pid_t> moved;
  const CgroupWalk::Pass pass = walk.Run(CgroupWalk::kMostCgroups, [&](int cgroup, bool is_root) {
    std::vector<pid_t> pids;
    const int error = ReadMembers(cgroup, is_root, &pids);
    KeepError(error, &result->error);
    const bool has_processes = !pids.empty() || error != 0;
    SortPids(&pids);
    // v1 lists a process in each cgroup that has one of its threads.
    const auto is_known = [&](pid_t pid) { return pid > 0 && !seen.insert(pid).second; };
    pids.erase(std::remove_if(pids.begin(), pids.end(), is_known), pids.end());
    result->found += pids.size();
    const Reading again = [&](int* failed) {
      std::vector<pid_t> second;
      *failed = ReadMembers(cgroup, is_root, &second);
      SortPids(&second);
      return second;
    };
    SignalMembers(pids, signal, reaper, again, &moved, result);
    return has_processes;
  });
  KeepError(pass.error, &result->error);
  if (!moved.empty()) {
    SortPids(&moved);
    const Reading whole = [this](int* failed) { return Processes(failed); };
    SignalMembers(moved, signal, reaper, whole, nullptr, result);
  }
  result->complete = pass.complete;
  result->empty_rounds = walk.empty_rounds();
}

CgroupHandle::Stopped CgroupHandle::Stop(size_t rounds) const {
  Stopped result;
  Signalled signalled;
  std::vector<pid_t> known;
  while (result.rounds < rounds && !result.settled) {
    int error = 0;
    const std::vector<pid_t> listed = Processes(&error);
    KeepError(error, &signalled.error);
    result.rounds++;
    std::vector<pid_t> added;
    std::set_difference(listed.begin(), listed.end(), known.begin(), known.end(), std::back_inserter(added));
    if (added.empty()) {
      result.settled = error == 0;
      break;
    }
    const Reading whole = [this](int* failed) { return Processes(failed); };
    SignalMembers(added, SIGSTOP, nullptr, whole, nullptr, &signalled);
    // Only this reading: a pid that was freed may belong to another process later.
    known = listed;
  }
  result.error = signalled.error;
  return result;
}

void CgroupHandle::SignalMembers(const std::vector<pid_t>& pids, int signal, MemoryReaper* reaper, const Reading& again,
                                 std::vector<pid_t>* moved, Signalled* result) {
  const pid_t self = getpid();
  const size_t batch = std::max(kLeastBatch, pids.size() / kMostBatches + 1);
  std::vector<Opened> opened;
  opened.reserve(std::min(batch, pids.size()));
  size_t next = 0;
  while (next < pids.size()) {
    opened.clear();
    for (; next < pids.size() && opened.size() < batch; next++) {
      const pid_t pid = pids[next];
      if (pid <= 1 || pid == self) {
        KeepError(EPERM, &result->error);
        continue;
      }
      UniqueFd pidfd(OpenPidfd(pid));
      if (pidfd) {
        opened.push_back({pid, std::move(pidfd)});
      } else if (IsOutOfDescriptors(errno) && !opened.empty()) {
        break;  // signal the open ones first
      } else {
        KeepError(errno, &result->error);
      }
    }
    if (opened.empty()) continue;
    int error = 0;
    std::vector<pid_t> second = again(&error);
    while (IsOutOfDescriptors(error) && opened.size() > 1) {
      // The reading needs descriptors too: close half of the pidfds, and return to those processes later.
      opened.resize(opened.size() / 2);
      next = static_cast<size_t>(std::upper_bound(pids.begin(), pids.end(), opened.back().pid) - pids.begin());
      second = again(&error);
    }
    KeepError(error, &result->error);
    for (Opened& member : opened) {
      if (!std::binary_search(second.begin(), second.end(), member.pid)) {
        if (moved != nullptr && SendSignal(member.pidfd.get(), 0) == 0) moved->push_back(member.pid);
        member.pidfd.Reset();
      } else if (SendSignal(member.pidfd.get(), signal) == 0) {
        result->signalled++;
        result->at_ns = MonotonicNs();
      } else {
        KeepError(errno, &result->error);
        member.pidfd.Reset();
      }
    }
    // The reaper starts after the signals, because its thread needs a processor, too.
    if (reaper == nullptr) continue;
    for (Opened& member : opened) {
      if (member.pidfd) reaper->Take(std::move(member.pidfd));
    }
  }
}

void CgroupHandle::Kill() const {
  const UniqueFd file(openat(directory_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (!file) throw SystemError(errno, "open", path_ + "/cgroup.kill");
  if (write(file.get(), "1", 1) != 1) throw SystemError(errno, "write", path_ + "/cgroup.kill");
}

}  // namespace evictd
