#include "linux/cgroup_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/monotonic_clock.h"
#include "common/system_error.h"
#include "linux/cgroup_processes.h"
#include "linux/process.h"

namespace evictd {

namespace {

// pidfds held at a time: few enough for a soft limit of 1,024 descriptors, enough that ten thousand processes need 20
// readings.
constexpr size_t kBatch = 512;

constexpr char kFreezerState[] = "freezer.state";
constexpr char kFreeze[] = "cgroup.freeze";

struct Opened {
  pid_t pid = 0;
  UniqueFd pidfd;
};

bool OutOfDescriptors(int error) { return error == EMFILE || error == ENFILE; }

void Note(int error, int* first) {
  if (*first == 0 && error != ESRCH) *first = error;
}

}  // namespace

CgroupHandle::CgroupHandle(const std::string& cgroup, std::optional<uint64_t> id)
    : path_(cgroup), directory_(open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!directory_) throw SystemError(errno, "open", path_);
  struct stat status = {};
  if (fstat(directory_.get(), &status) != 0) throw SystemError(errno, "fstat", path_);
  id_ = status.st_ino;
  if (id && *id != id_) throw SystemError(ESTALE, "open", path_);
}

std::vector<pid_t> CgroupHandle::Processes(int* error) const {
  std::vector<pid_t> pids;
  *error = AppendProcesses(directory_.get(), &pids);
  std::sort(pids.begin(), pids.end());
  // 0 stands for each process that has no number in this pid namespace: those stay.
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
    Note(error, &signalled.error);
    result.rounds++;
    std::vector<pid_t> newcomers;
    std::set_difference(listed.begin(), listed.end(), known.begin(), known.end(), std::back_inserter(newcomers));
    if (newcomers.empty()) {
      result.settled = error == 0;
      break;
    }
    SignalMembers(newcomers, SIGSTOP, nullptr, &signalled);
    // Of this reading only: a number that was given back may come again as somebody else.
    known = listed;
  }
  result.error = signalled.error;
  return result;
}

void CgroupHandle::SignalMembers(const std::vector<pid_t>& pids, int signal, MemoryReaper* reaper,
                                 Signalled* result) const {
  const pid_t self = getpid();
  std::vector<Opened> opened;
  opened.reserve(std::min(kBatch, pids.size()));
  size_t next = 0;
  while (next < pids.size()) {
    opened.clear();
    for (; next < pids.size() && opened.size() < kBatch; next++) {
      const pid_t pid = pids[next];
      if (pid <= 1 || pid == self) {
        Note(EPERM, &result->error);
        continue;
      }
      UniqueFd pidfd(OpenPidfd(pid));
      if (pidfd) {
        opened.push_back({pid, std::move(pidfd)});
      } else if (OutOfDescriptors(errno) && !opened.empty()) {
        break;  // first those that are open
      } else {
        Note(errno, &result->error);
      }
    }
    if (opened.empty()) continue;
    int error = 0;
    std::vector<pid_t> second = Processes(&error);
    while (OutOfDescriptors(error) && opened.size() > 1) {
      // The reading needs descriptors too: give half of them back, and come again for those processes.
      opened.resize(opened.size() / 2);
      next = static_cast<size_t>(std::upper_bound(pids.begin(), pids.end(), opened.back().pid) - pids.begin());
      second = Processes(&error);
    }
    Note(error, &result->error);
    for (Opened& member : opened) {
      if (!std::binary_search(second.begin(), second.end(), member.pid)) continue;
      if (SendSignal(member.pidfd.get(), signal) == 0) {
        result->signalled++;
        if (reaper != nullptr) reaper->Take(std::move(member.pidfd));
      } else {
        Note(errno, &result->error);
      }
    }
  }
}

void CgroupHandle::Kill() const {
  const UniqueFd file(openat(directory_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (!file) throw SystemError(errno, "open", path_ + "/cgroup.kill");
  if (write(file.get(), "1", 1) != 1) throw SystemError(errno, "write", path_ + "/cgroup.kill");
}

bool CgroupHandle::Freeze(unsigned limit_ms) const {
  const uint64_t until_ns = MonotonicNs() + limit_ms * uint64_t{1000000};
  const int v1 = WriteControl(kFreezerState, "FROZEN");
  if (v1 != 0 && v1 != ENOENT) throw SystemError(v1, "write", path_ + "/" + kFreezerState);
  const int v2 = v1 == 0 ? 0 : WriteControl(kFreeze, "1");
  if (v2 != 0) throw SystemError(v2, "write", path_ + "/" + kFreeze);
  // The list of events of v1 has no such event, and both take microseconds where nobody is in the kernel.
  const struct timespec pause = {0, 50000};
  for (;;) {
    if (v1 == 0 ? ControlSays(kFreezerState, "FROZEN") : ControlSays("cgroup.events", "frozen 1")) return true;
    if (MonotonicNs() >= until_ns) return false;
    nanosleep(&pause, nullptr);
  }
}

void CgroupHandle::Thaw() const {
  const int v1 = WriteControl(kFreezerState, "THAWED");
  const int error = v1 == ENOENT ? WriteControl(kFreeze, "0") : v1;
  if (error != 0 && error != ENOENT && error != ENODEV) throw SystemError(error, "write", path_ + "/" + kFreezerState);
}

int CgroupHandle::WriteControl(const char* name, const char* text) const {
  const UniqueFd file(openat(directory_.get(), name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  const ssize_t length = static_cast<ssize_t>(strlen(text));
  return file && write(file.get(), text, static_cast<size_t>(length)) == length ? 0 : errno;
}

bool CgroupHandle::ControlSays(const char* name, const char* text) const {
  const UniqueFd file(openat(directory_.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, 256> content;
  const ssize_t length = file ? read(file.get(), content.data(), content.size()) : -1;
  return length > 0 &&
         std::string_view(content.data(), static_cast<size_t>(length)).find(text) != std::string_view::npos;
}

}  // namespace evictd
