#include "watch/linux/memcg_events.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "read/linux/reader.h"
#include "system/system_error.h"

namespace evictd {

namespace {

enum : size_t { kNotifying, kCgroupEvents, kTimer };

constexpr uint64_t kCheckNs = 250 * 1000 * 1000;

}  // namespace

MemcgEvents::MemcgEvents(const std::string& cgroup, const std::string& file)
    : file_{file, TextFormat::kKeyed, {kCounters.begin(), kCounters.end()}} {
  for (std::atomic<double>& value : values_) value = std::numeric_limits<double>::quiet_NaN();
  const UniqueFd directory(open(cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw SystemError(errno, "open", cgroup);
  notifying_.Reset(OpenForReading(directory.get(), file.c_str()));
  if (!notifying_) throw SystemError(errno, "open", cgroup + "/" + file);
  cgroup_events_.Reset(OpenForReading(directory.get(), "cgroup.events"));
  if (!cgroup_events_) throw SystemError(errno, "open", cgroup + "/cgroup.events");
  // A file that was never read counts as changed: the first read arms it.
  int error = 0;
  ReadCounters(&error);
  if (error != 0) throw SystemError(error, "read", cgroup + "/" + file);
  if (!CheckCgroup(true)) throw SystemError(ENODEV, "read", cgroup + "/cgroup.events");
}

std::vector<WatchSource::Descriptor> MemcgEvents::Descriptors() const {
  return {{notifying_.get(), EPOLLPRI}, {cgroup_events_.get(), EPOLLPRI}, {timer_.descriptor(), EPOLLIN}};
}

Wake MemcgEvents::OnEvent(size_t which, uint32_t) {
  switch (which) {
    case kNotifying: {
      // Every notification is EPOLLPRI with EPOLLERR, and repeats until the file is read.
      int error = 0;
      Detail(ReadCounters(&error));
      return error == ENODEV ? Gone(error) : Wake::kFired;
    }
    case kTimer:
      if (!timer_.Acknowledge()) return Wake::kNothing;
      return CheckCgroup(false) ? Wake::kNothing : Gone(ENODEV);
    default:
      return CheckCgroup(true) ? Wake::kNothing : Gone(ENODEV);
  }
}

unsigned MemcgEvents::ReadCounters(int* error) {
  char text[512];
  const ssize_t length = pread(notifying_.get(), text, sizeof text, 0);
  if (length < 0) {
    *error = errno;
    return 0;
  }
  std::array<double, kCounters.size()> values;
  // ENODATA is normal: no file has all of them.
  ParseKernelText(file_, std::string_view(text, static_cast<size_t>(length)), values.data());
  unsigned moved = 0;
  for (size_t i = 0; i < values.size(); i++) {
    if (std::isnan(values[i])) continue;
    const double before = values_[i].exchange(values[i], std::memory_order_relaxed);
    if (!std::isnan(before) && before != values[i]) moved |= 1u << i;
  }
  return moved;
}

bool MemcgEvents::CheckCgroup(bool notified) {
  char text[256];
  const ssize_t length = pread(cgroup_events_.get(), text, sizeof text, 0);
  if (length < 0) return errno != ENODEV;
  const std::string_view lines(text, static_cast<size_t>(length));
  const bool empty = lines.find("populated 0") != std::string_view::npos;
  if (empty || notified) timer_.Set(kCheckNs);
  return true;
}

}  // namespace evictd
