#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evictd {

enum class TextFormat { kNumber, kKeyed, kKstat, kNested, kPressure, kLoadavg, kOccupied };

// A file and the wanted fields: the contract's FileSpec.
struct FileSpec {
  std::string path;
  TextFormat format;
  std::vector<std::string> keys;  // kKeyed, kKstat and kNested only
  size_t directory = 0;           // in a table: 0 the cgroup, n its n-th neighbour

  size_t fields() const;
  // Whether an open descriptor may be read again. cgroup.procs of v1 repeats its previous text while it is read at
  // least once a second.
  bool keepable() const { return format != TextFormat::kOccupied; }
};

// Writes spec.fields() values without allocating. Returns 0, EBADMSG (not terminated by a newline, negative, beyond 64
// bits, not a number) or ENODATA (a key or PSI line is missing, as on older kernels). Only the fields concerned are
// NaN.
int ParseKernelText(const FileSpec& spec, std::string_view text, double* values);

// Sets all values of the file to unknown.
void ForgetValues(const FileSpec& spec, double* values);

}  // namespace evictd
