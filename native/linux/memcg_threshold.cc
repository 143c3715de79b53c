#include "linux/memcg_threshold.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "common/system_error.h"
#include "linux/reader.h"

namespace evictd {

MemcgThreshold::MemcgThreshold(const std::string& cgroup, uint64_t usage_bytes) {
  const std::string usage_path = cgroup + "/memory.usage_in_bytes";
  usage_.Reset(OpenForReading(AT_FDCWD, usage_path.c_str()));
  if (!usage_) throw SystemError(errno, "open", usage_path);
  const std::string control_path = cgroup + "/cgroup.event_control";
  const UniqueFd control(open(control_path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!control) throw SystemError(errno, "open", control_path);
  event_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_) throw SystemError(errno, "eventfd");
  char line[64];
  const int length = snprintf(line, sizeof line, "%d %d %" PRIu64, event_.get(), usage_.get(), usage_bytes);
  if (write(control.get(), line, static_cast<size_t>(length)) != length)
    throw SystemError(errno, "write", control_path);
}

std::vector<WatchSource::Descriptor> MemcgThreshold::Descriptors() const { return {{event_.get(), EPOLLIN}}; }

Wake MemcgThreshold::OnEvent(size_t, uint32_t) {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  // rmdir fires every eventfd once, exactly like a crossing. The kept file of a cgroup that was removed cannot be read.
  char first = 0;
  if (pread(usage_.get(), &first, 1, 0) < 0 && errno == ENODEV) return Wake::kGone;
  return Wake::kFired;
}

}  // namespace evictd
