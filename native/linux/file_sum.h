#ifndef EVICTD_LINUX_FILE_SUM_H_
#define EVICTD_LINUX_FILE_SUM_H_

#include <cstdint>
#include <vector>

#include "linux/reader.h"
#include "linux/sampled_value.h"

namespace evictd {

// The weighted sum of the fields of some kernel files.
class FileSum : public SampledValue {
 public:
  // `weights`: one per field. Throws SystemError: every file has to be readable now.
  FileSum(std::vector<FileSpec> files, std::vector<double> weights);

  int Take(double* value) override;
  bool Passing(int error) const override;

 private:
  Reader reader_;
  std::vector<double> weights_;
  std::vector<double> values_;
  std::vector<int32_t> errors_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_FILE_SUM_H_
