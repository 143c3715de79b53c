#include "kill/linux/cgroup_freezer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

#include "system/clock.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr char kFreezerState[] = "freezer.state";
constexpr char kFreeze[] = "cgroup.freeze";
constexpr char kEvents[] = "cgroup.events";
constexpr int kOpenFlags = O_CLOEXEC | O_NOFOLLOW;

// Returns 0 or errno.
int Write(int file, const char* text) {
  const size_t length = strlen(text);
  return pwrite(file, text, length, 0) == static_cast<ssize_t>(length) ? 0 : errno;
}

bool Contains(int file, const char* text) {
  std::array<char, 256> content;
  const ssize_t length = pread(file, content.data(), content.size(), 0);
  return length > 0 &&
         std::string_view(content.data(), static_cast<size_t>(length)).find(text) != std::string_view::npos;
}

}  // namespace

int CgroupFreezer::Open(int directory, Control* control) {
  control->name = kFreezerState;
  control->v1 = true;
  control->file.Reset(openat(directory, kFreezerState, O_RDWR | kOpenFlags));
  if (control->file) return 0;
  if (errno != ENOENT) return errno;
  control->name = kFreeze;
  control->v1 = false;
  control->file.Reset(openat(directory, kFreeze, O_RDWR | kOpenFlags));
  return control->file ? 0 : errno;
}

bool CgroupFreezer::IsFrozen(int events) const {
  return control_.v1 ? Contains(control_.file.get(), "FROZEN") : Contains(events, "frozen 1");
}

bool CgroupFreezer::Freeze(unsigned limit_ms) {
  const uint64_t until_ns = MonotonicNs() + limit_ms * uint64_t{1000000};
  Control control;
  if (const int error = Open(directory_, &control)) throw SystemError(error, "open", path_ + "/" + control.name);
  UniqueFd events;
  if (!control.v1) {
    events.Reset(openat(directory_, kEvents, O_RDONLY | kOpenFlags));
    if (!events) throw SystemError(errno, "open", path_ + "/" + kEvents);
  }
  if (const int error = Write(control.file.get(), control.v1 ? "FROZEN" : "1")) {
    throw SystemError(error, "write", path_ + "/" + control.name);
  }
  control_ = std::move(control);
  // cgroup.events of v1 does not report freezing. Both versions freeze in microseconds unless a task is in the kernel.
  const struct timespec pause = {0, 50000};
  for (;;) {
    if (IsFrozen(events.get())) return true;
    if (MonotonicNs() >= until_ns) return false;
    nanosleep(&pause, nullptr);
  }
}

void CgroupFreezer::Thaw() {
  int error = control_.file ? 0 : Open(directory_, &control_);
  if (error == 0) error = Thaw(control_);
  const int below = ThawBelow();
  if (error == 0 || HasVanished(error)) error = below;
  if (error != 0) throw SystemError(error, "write", path_ + "/" + control_.name);
  control_.file.Reset();
}

int CgroupFreezer::Thaw(const Control& control) { return Write(control.file.get(), control.v1 ? "THAWED" : "0"); }

int CgroupFreezer::ThawBelow() {
  int first_error = 0;
  const CgroupWalk::Pass pass = walk_.Run(CgroupWalk::kMostCgroups, [&](int cgroup, bool is_root) {
    if (is_root) return false;
    Control control;
    int error = Open(cgroup, &control);
    if (error == 0) error = Thaw(control);
    if (first_error == 0 && !HasVanished(error)) first_error = error;
    return false;
  });
  if (first_error != 0 || pass.error != 0) return first_error != 0 ? first_error : pass.error;
  return pass.complete ? 0 : EAGAIN;
}

}  // namespace evictd
