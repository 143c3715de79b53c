#pragma once

#include <memory>

#include "filesystem/filesystem_stats.h"
#include "sample/linux/sampled_value.h"
#include "watch/linux/event_waker.h"

namespace evictd {

// What is free on a filesystem, times −1: it falls to its limits, and a sampler's value rises to them. The thread of
// the FilesystemStats asks the filesystem; where that hangs there is no further sample, and nobody waits.
class FilesystemValue : public SampledValue {
 public:
  enum class Field { kAvailableBytes, kInodesFree };

  // Does not keep the FilesystemStats: after its owner gave it up there is no value any more (EBADF).
  FilesystemValue(std::weak_ptr<FilesystemStats> stats, Field field);

  int descriptor() const override { return bell_->descriptor(); }
  bool Ask() override;
  int Take(double* value) override;
  bool Passing(int error) const override;

 private:
  std::weak_ptr<FilesystemStats> stats_;
  Field field_;
  std::shared_ptr<EventBell> bell_;
  bool asked_ = false;
};

}  // namespace evictd
