#include "kill/linux/cgroup_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
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

std::vector<pid_t> CgroupHandle::Processes(int* error) const {
  std::vector<pid_t> pids;
  *error = AppendProcesses(directory_.get(), &pids);
  std::sort(pids.begin(), pids.end());
  // 0 stands for each process without a number in this pid namespace: those stay.
  const auto numbered = std::upper_bound(pids.begin(), pids.end(), 0);
  pids.erase(std::unique(numbered, pids.end()), pids.end());
  return pids;
}

CgroupHandle::Signalled CgroupHandle::Signal(int signal, MemoryReaper* reaper) const {
  Signalled result;
  const std::vector<pid_t> pids = Processes(&result.error);
  result.found = pids.size();
  SignalMembers(pids, signal, reaper, &result);
  return result;
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
    SignalMembers(added, SIGSTOP, nullptr, &signalled);
    // Only this reading: a pid that was freed may belong to another process later.
    known = listed;
  }
  result.error = signalled.error;
  return result;
}

void CgroupHandle::SignalMembers(const std::vector<pid_t>& pids, int signal, MemoryReaper* reaper,
                                 Signalled* result) const {
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
    std::vector<pid_t> second = Processes(&error);
    while (IsOutOfDescriptors(error) && opened.size() > 1) {
      // The reading needs descriptors too: close half of the pidfds, and return to those processes later.
      opened.resize(opened.size() / 2);
      next = static_cast<size_t>(std::upper_bound(pids.begin(), pids.end(), opened.back().pid) - pids.begin());
      second = Processes(&error);
    }
    KeepError(error, &result->error);
    for (Opened& member : opened) {
      if (!std::binary_search(second.begin(), second.end(), member.pid)) {
        member.pidfd.Reset();
      } else if (SendSignal(member.pidfd.get(), signal) == 0) {
        result->signalled++;
        result->at_ns = MonotonicNs();
      } else {
        KeepError(errno, &result->error);
        member.pidfd.Reset();
      }
    }
    // After the signals: the reaper's thread needs a processor too.
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
