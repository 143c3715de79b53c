#include "watch/linux/kernel_log.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "system/system_error.h"

namespace evictd {

namespace {

constexpr const char* kPath = "/dev/kmsg";

// Kills kept for JavaScript; a later one drops the oldest.
constexpr size_t kMostRecords = 256;

// Records read at a time: endless logging must not block the other watches.
constexpr int kBatch = 256;

}  // namespace

KernelLog::KernelLog(std::shared_ptr<Inbox> inbox)
    : log_(open(kPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)), inbox_(std::move(inbox)) {
  if (!log_) throw SystemError(errno, "open", kPath);
  // Skips older records.
  if (lseek(log_.get(), 0, SEEK_END) < 0) throw SystemError(errno, "lseek", kPath);
}

std::vector<WatchSource::Descriptor> KernelLog::Descriptors() const { return {{log_.get(), EPOLLIN}}; }

Wake KernelLog::OnEvent(size_t, uint32_t) {
  Wake wake = Wake::kNothing;
  for (int i = 0; i < kBatch; i++) {
    const ssize_t length = read(log_.get(), buffer_.data(), buffer_.size());
    if (length < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return wake;
      if (errno != EPIPE) return Gone(errno);
      // The kernel has overwritten the next record; the next read continues with the oldest one left.
      inbox_->CountOverrun();
      Detail(kLost);
      wake = Wake::kFired;
      continue;
    }
    if (length == 0) return wake;
    const std::optional<KernelLogRecord> record =
        ParseKernelLogRecord(std::string_view(buffer_.data(), static_cast<size_t>(length)));
    if (!record) continue;
    std::optional<OomRecord> kill = parser_.Take(*record);
    if (!kill) continue;
    bool dropped = false;
    inbox_->Add(std::move(*kill), &dropped);
    if (dropped) Detail(kLost);
    wake = Wake::kFired;
  }
  return wake;
}

void KernelLog::Inbox::Add(OomRecord record, bool* dropped) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *dropped = records_.list.size() == kMostRecords;
  if (*dropped) {
    records_.list.erase(records_.list.begin());
    records_.dropped++;
  }
  records_.list.push_back(std::move(record));
}

void KernelLog::Inbox::CountOverrun() {
  const std::lock_guard<std::mutex> lock(mutex_);
  records_.overruns++;
}

KernelLog::Records KernelLog::Inbox::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(records_, Records{});
}

}  // namespace evictd
