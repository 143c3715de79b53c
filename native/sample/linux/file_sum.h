#pragma once

#include <cstdint>
#include <vector>

#include "read/linux/reader.h"
#include "sample/linux/sampled_value.h"

namespace evictd {

// The weighted sum of the fields of kernel files.
class FileSum : public SampledValue {
 public:
  // `weights`: one a field. Throws SystemError if a file is not readable now.
  FileSum(std::vector<FileSpec> files, std::vector<double> weights);

  int Take(double* value) override;
  bool IsTransient(int error) const override;

 private:
  Reader reader_;
  std::vector<double> weights_;
  std::vector<double> values_;
  std::vector<int32_t> errors_;
};

}  // namespace evictd
