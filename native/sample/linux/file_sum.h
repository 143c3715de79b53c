#pragma once

#include <cstdint>
#include <vector>

#include "read/linux/reader.h"
#include "sample/linux/sampled_value.h"

namespace evictd {

// The weighted sum of the fields of kernel files, less what can be reclaimed.
class FileSum : public SampledValue {
 public:
  // What the kernel can reclaim of a weighted sum, at least 0: all but `kept`, or but half of it if that is less (as
  // si_mem_available(), mm/show_mem.c, has it).
  struct Reclaimable {
    std::vector<double> weights;
    double kept;
  };

  // `weights`: one a field, here and in each Reclaimable. Throws SystemError if a file is not readable now.
  FileSum(std::vector<FileSpec> files, std::vector<double> weights, std::vector<Reclaimable> reclaimable = {});

  int Take(double* value) override;
  bool IsTransient(int error) const override;

 private:
  double Weighted(const std::vector<double>& weights) const;

  Reader reader_;
  std::vector<double> weights_;
  std::vector<Reclaimable> reclaimable_;
  std::vector<double> values_;
  std::vector<int32_t> errors_;
};

}  // namespace evictd
