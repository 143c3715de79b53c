#include "sample/linux/file_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "system/linux/shortage.h"
#include "system/system_error.h"

namespace evictd {

FileSum::FileSum(std::vector<FileSpec> files, std::vector<double> weights, std::vector<Reclaimable> reclaimable)
    : reader_(std::move(files)),
      weights_(std::move(weights)),
      reclaimable_(std::move(reclaimable)),
      values_(reader_.fields()),
      errors_(reader_.files()) {
  for (size_t file = 0; file < reader_.files(); file++) {
    if (const int error = reader_.Open(file)) throw SystemError(error, "open", reader_.spec(file).path);
  }
  reader_.Read(values_.data(), errors_.data());
  for (size_t file = 0; file < reader_.files(); file++) {
    if (errors_[file] != 0) throw SystemError(errors_[file], "read", reader_.spec(file).path);
  }
}

int FileSum::Take(double* value) {
  reader_.Read(values_.data(), errors_.data());
  for (const int32_t error : errors_) {
    if (error != 0) return error;
  }
  *value = Weighted(weights_);
  for (const Reclaimable& part : reclaimable_) {
    const double sum = Weighted(part.weights);
    if (sum > 0) *value -= sum - std::min(std::floor(sum / 2), part.kept);
  }
  return 0;
}

// A field that does not count is left out: infinity × 0 is not a number.
double FileSum::Weighted(const std::vector<double>& weights) const {
  double sum = 0;
  for (size_t field = 0; field < values_.size(); field++) {
    if (weights[field] != 0) sum += weights[field] * values_[field];
  }
  return sum;
}

// When memory is exhausted the kernel may have no page for the text, and sampling must go on.
bool FileSum::IsTransient(int error) const { return IsShortage(error); }

}  // namespace evictd
