#pragma once

#include <memory>

#include "filesystem/filesystem_stats.h"
#include "sample/linux/sampled_value.h"
#include "watch/linux/event_waker.h"

namespace evictd {

// The free space of a filesystem, negated: free space falls to a limit, a sampled value rises to one. FilesystemStats
// reads it on its thread; while that hangs there is no sample.
class FilesystemValue : public SampledValue {
 public:
  enum class Field { kAvailableBytes, kInodesFree };

  // Holds no strong reference: EBADF after the owner has closed the FilesystemStats.
  FilesystemValue(std::weak_ptr<FilesystemStats> stats, Field field);

  int descriptor() const override { return waker_->descriptor(); }
  bool Request() override;
  int Take(double* value) override;
  bool IsTransient(int error) const override;

 private:
  std::weak_ptr<FilesystemStats> stats_;
  Field field_;
  std::shared_ptr<EventWaker> waker_;
  bool requested_ = false;
};

}  // namespace evictd
