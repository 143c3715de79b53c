#include "sample/linux/filesystem_value.h"

#include <cerrno>
#include <utility>

namespace evictd {

FilesystemValue::FilesystemValue(std::weak_ptr<FilesystemStats> stats, Field field)
    : stats_(std::move(stats)), field_(field), bell_(std::make_shared<EventBell>()) {}

bool FilesystemValue::Ask() {
  if (asked_) return false;
  const std::shared_ptr<FilesystemStats> stats = stats_.lock();
  if (!stats) return true;  // Take() says why there is none
  asked_ = true;
  stats->Ask(bell_);
  return false;
}

int FilesystemValue::Take(double* value) {
  bell_->Silence();
  asked_ = false;
  const std::shared_ptr<FilesystemStats> stats = stats_.lock();
  if (!stats) return EBADF;
  const FilesystemStats::Reading reading = stats->Read();
  if (reading.error != 0) return reading.error;
  *value = -static_cast<double>(field_ == Field::kAvailableBytes ? reading.available_bytes : reading.inodes_free);
  return 0;
}

// A path that is not there, or a server that is not, may come back: who reads the filesystem says what is wrong with
// it.
bool FilesystemValue::Passing(int error) const { return error != EBADF; }

}  // namespace evictd
