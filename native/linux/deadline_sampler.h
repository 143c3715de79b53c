#ifndef EVICTD_LINUX_DEADLINE_SAMPLER_H_
#define EVICTD_LINUX_DEADLINE_SAMPLER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "linux/reader.h"
#include "linux/unique_fd.h"
#include "linux/waiter.h"

namespace evictd {

// Where no threshold notification exists: reads files on the waiter thread at an interval and fires when a weighted sum
// of their fields crosses a limit, in either direction. Until its first sample a limit counts as not reached: a value
// that is beyond it by then wakes, so that nothing is missed between whoever armed it and that sample.
class DeadlineSampler : public WatchSource {
 public:
  // `weights`: one per field. Throws SystemError: every file has to be readable now.
  DeadlineSampler(std::vector<FileSpec> files, std::vector<double> weights, uint64_t interval_ns,
                  std::vector<double> limits);

  // Any thread.
  void SetLimits(std::vector<double> limits);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  struct Limit {
    double value;
    enum class Side { kBelow, kAtOrAbove } side;
  };

  // 0, or the first errno.
  int Sample(double* sum);
  bool Crossed(double sum);

  Reader reader_;
  std::vector<double> weights_;
  std::vector<double> values_;
  std::vector<int32_t> errors_;
  std::mutex mutex_;  // guards limits_
  std::vector<Limit> limits_;
  UniqueFd timer_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_DEADLINE_SAMPLER_H_
