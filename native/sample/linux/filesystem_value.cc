#include "sample/linux/filesystem_value.h"

#include <utility>

namespace evictd {

FilesystemValue::FilesystemValue(std::weak_ptr<FilesystemStats> stats, Field field)
    : stats_(std::move(stats)), field_(field), waker_(std::make_shared<EventWaker>()) {}

bool FilesystemValue::Request() {
  if (requested_) return false;
  const std::shared_ptr<FilesystemStats> stats = stats_.lock();
  if (!stats) return true;  // Take() returns the error
  requested_ = true;
  stats->RequestSample(waker_);
  return false;
}

int FilesystemValue::Take(double* value) {
  waker_->Drain();
  requested_ = false;
  const std::shared_ptr<FilesystemStats> stats = stats_.lock();
  if (!stats) return EBADF;
  const FilesystemStats::Reading reading = stats->Read();
  if (reading.error != 0) return reading.error;
  *value = -static_cast<double>(field_ == Field::kAvailableBytes ? reading.available_bytes : reading.inodes_free);
  return 0;
}

// A missing path or unreachable server may return. The filesystem's reader reports what is wrong with it.
bool FilesystemValue::IsTransient(int error) const { return error != EBADF; }

}  // namespace evictd
