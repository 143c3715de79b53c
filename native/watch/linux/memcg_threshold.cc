#include "watch/linux/memcg_threshold.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string_view>

#include "read/linux/digits.h"
#include "read/linux/reader.h"
#include "system/system_error.h"

namespace evictd {

MemcgThreshold::MemcgThreshold(const std::string& cgroup, uint64_t usage_bytes) : wanted_(usage_bytes) {
  const std::string usage_path = cgroup + "/memory.usage_in_bytes";
  usage_.Reset(OpenForReading(AT_FDCWD, usage_path.c_str()));
  if (!usage_) throw SystemError(errno, "open", usage_path);
  const std::string control_path = cgroup + "/cgroup.event_control";
  control_.Reset(open(control_path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!control_) throw SystemError(errno, "open", control_path);
  event_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_) throw SystemError(errno, "eventfd");
}

bool MemcgThreshold::Registered(uint64_t* usage_bytes) const {
  if (!registered_) return false;
  *usage_bytes = usage_bytes_;
  return true;
}

std::vector<WatchSource::Descriptor> MemcgThreshold::Descriptors() const { return {{event_.get(), EPOLLIN}}; }

Wake MemcgThreshold::OnEvent(size_t, uint32_t) {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  // rmdir fires the eventfd just like a crossing, but the file of a removed cgroup cannot be read.
  char first = 0;
  if (pread(usage_.get(), &first, 1, 0) < 0 && errno == ENODEV) return Wake::kGone;
  return Wake::kFired;
}

void MemcgThreshold::Arm(Waiter* waiter, uint64_t id) {
  const uint64_t wanted = wanted_;
  const bool was_refused = was_refused_;
  bool fired = !registered_;
  const int error = registered_ && usage_bytes_ == wanted ? 0 : Register(waiter, id, wanted, &fired);
  if (error == ENODEV) {
    waiter->Post(id, Gone(error), 0);
    return;
  }
  if (error == 0) {
    usage_bytes_ = wanted;
    registered_ = true;
  }
  was_refused_ = error != 0;
  Refused(error);
  if (error == 0 && !fired && !was_refused && IsBelow(wanted)) return;
  waiter->Post(id, Wake::kFired, error == 0 ? kMoved : kRefused);
}

int MemcgThreshold::Register(Waiter* waiter, uint64_t id, uint64_t usage_bytes, bool* fired) {
  if (!registered_) return Write(event_.get(), usage_bytes);
  UniqueFd fresh(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fresh) return errno;
  int error = Write(fresh.get(), usage_bytes);
  // Closes the old eventfd after the new registration, so no crossing is missed in between.
  if (error == 0) error = waiter->Exchange(id, 0, &event_, &fresh);
  if (error != 0) return error;
  eventfd_t count = 0;
  *fired = eventfd_read(fresh.get(), &count) == 0;  // an event of the old one that the waiter has not seen
  return 0;
}

bool MemcgThreshold::IsBelow(uint64_t usage_bytes) const {
  char text[32];
  const ssize_t length = pread(usage_.get(), text, sizeof text, 0);
  if (length <= 0) return false;
  std::string_view digits(text, static_cast<size_t>(length));
  const std::optional<uint64_t> usage = TakeDigits(&digits);
  return usage && *usage < usage_bytes;
}

int MemcgThreshold::Write(int event, uint64_t usage_bytes) const {
  char line[64];
  const int length = snprintf(line, sizeof line, "%d %d %" PRIu64, event, usage_.get(), usage_bytes);
  return write(control_.get(), line, static_cast<size_t>(length)) == length ? 0 : errno;
}

}  // namespace evictd
