#include "watch/linux/oom_control.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "read/linux/reader.h"
#include "system/system_error.h"

namespace evictd {

namespace {

enum : size_t { kEvent, kTimer };

constexpr uint64_t kCheckNs = 20 * 1000 * 1000;
constexpr int kChecks = 50;

bool TakeEvents(int eventfd) {
  uint64_t count = 0;
  return read(eventfd, &count, sizeof count) > 0;
}

}  // namespace

OomControl::OomControl(const std::string& cgroup)
    : file_{cgroup + "/memory.oom_control", TextFormat::kKeyed, {"under_oom", "oom_kill"}} {
  control_.Reset(OpenForReading(AT_FDCWD, file_.path.c_str()));
  if (!control_) throw SystemError(errno, "open", file_.path);
  const std::string registry_path = cgroup + "/cgroup.event_control";
  const UniqueFd registry(open(registry_path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!registry) throw SystemError(errno, "open", registry_path);
  event_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_) throw SystemError(errno, "eventfd");
  unsigned detail = 0;
  if (!ReadControl(&detail)) throw SystemError(ENODEV, "read", file_.path);
  char line[32];
  const int length = snprintf(line, sizeof line, "%d %d", event_.get(), control_.get());
  if (write(registry.get(), line, static_cast<size_t>(length)) != length) {
    throw SystemError(errno, "write", registry_path);
  }
  // The kernel does not notify of a kill between the first read and the registration.
  checks_left_ = 1;
  timer_.Set(kCheckNs);
}

std::vector<WatchSource::Descriptor> OomControl::Descriptors() const {
  return {{event_.get(), EPOLLIN}, {timer_.descriptor(), EPOLLIN}};
}

Wake OomControl::OnEvent(size_t which, uint32_t) {
  if (which == kTimer ? !timer_.Acknowledge() : !TakeEvents(event_.get())) return Wake::kNothing;
  unsigned detail = 0;
  // rmdir fires the eventfd too.
  if (!ReadControl(&detail)) return Gone(ENODEV);
  const bool killed = (detail & kOomKill) != 0;
  if (which == kEvent)
    checks_left_ = kChecks;
  else
    checks_left_--;
  if (checks_left_ > 0) timer_.Set(kCheckNs);  // also after a kill: it may belong to the previous event
  if (which == kTimer && !killed) return Wake::kNothing;
  WatchSource::Detail(detail);
  return Wake::kFired;
}

bool OomControl::ReadControl(unsigned* detail) {
  char text[256];
  const ssize_t length = pread(control_.get(), text, sizeof text, 0);
  if (length < 0) return errno != ENODEV;
  double values[2];
  ParseKernelText(file_, std::string_view(text, static_cast<size_t>(length)), values);
  const auto [under_oom, kills] = values;
  if (under_oom > 0) *detail |= kUnderOom;
  if (kills > kills_) *detail |= kOomKill;
  if (!std::isnan(kills)) kills_ = kills;
  return true;
}

}  // namespace evictd
