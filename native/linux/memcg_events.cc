#include "linux/memcg_events.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "common/system_error.h"
#include "linux/reader.h"

namespace evictd {

namespace {

enum : size_t { kNotifying, kCgroupEvents, kTimer };

constexpr long kLookEveryNs = 250 * 1000 * 1000;

}  // namespace

MemcgEvents::MemcgEvents(const std::string& cgroup, const std::string& file) {
  const UniqueFd directory(open(cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw SystemError(errno, "open", cgroup);
  notifying_.Reset(OpenForReading(directory.get(), file.c_str()));
  if (!notifying_) throw SystemError(errno, "open", cgroup + "/" + file);
  cgroup_events_.Reset(OpenForReading(directory.get(), "cgroup.events"));
  if (!cgroup_events_) throw SystemError(errno, "open", cgroup + "/cgroup.events");
  timer_.Reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) throw SystemError(errno, "timerfd_create");
  // A file that was never read counts as changed: reading it once arms it.
  char first = 0;
  if (pread(notifying_.get(), &first, 1, 0) < 0) throw SystemError(errno, "read", cgroup + "/" + file);
  if (!LookAtCgroup()) throw SystemError(ENODEV, "read", cgroup + "/cgroup.events");
}

std::vector<WatchSource::Descriptor> MemcgEvents::Descriptors() const {
  return {{notifying_.get(), EPOLLPRI}, {cgroup_events_.get(), EPOLLPRI}, {timer_.get(), EPOLLIN}};
}

Wake MemcgEvents::OnEvent(size_t which, uint32_t) {
  switch (which) {
    case kNotifying: {
      // Every notification is EPOLLPRI with EPOLLERR, and comes again until the file is read.
      char first = 0;
      if (pread(notifying_.get(), &first, 1, 0) < 0 && errno == ENODEV) return Wake::kGone;
      return Wake::kFired;
    }
    case kTimer: {
      uint64_t expirations = 0;
      if (read(timer_.get(), &expirations, sizeof expirations) < 0) return Wake::kNothing;
      return LookAtCgroup() ? Wake::kNothing : Wake::kGone;
    }
    default:
      return LookAtCgroup() ? Wake::kNothing : Wake::kGone;
  }
}

bool MemcgEvents::LookAtCgroup() {
  char text[256];
  const ssize_t length = pread(cgroup_events_.get(), text, sizeof text, 0);
  if (length < 0) return errno != ENODEV;
  const std::string_view lines(text, static_cast<size_t>(length));
  const bool empty = lines.find("populated 0") != std::string_view::npos;
  if (empty != ticking_) {
    itimerspec period = {};
    if (empty) period.it_interval.tv_nsec = period.it_value.tv_nsec = kLookEveryNs;
    timerfd_settime(timer_.get(), 0, &period, nullptr);
    ticking_ = empty;
  }
  return true;
}

}  // namespace evictd
