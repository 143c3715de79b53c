#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evictd {

enum class TextFormat { kNumber, kKeyed, kPressure, kLoadavg, kOccupied };

// What one file is and which of its fields are wanted: the contract's FileSpec.
struct FileSpec {
  std::string path;
  TextFormat format;
  std::vector<std::string> keys;  // kKeyed only
  size_t directory = 0;           // of a table: 0 the cgroup, n its n-th neighbour

  size_t fields() const;
  // Whether an open descriptor may be read again. On v1 one of cgroup.procs repeats what it said last for as long as it
  // is asked within a second.
  bool keepable() const { return format != TextFormat::kOccupied; }
};

// Fills spec.fields() values from the text; no allocation. Returns 0, EBADMSG (text the kernel would not write: not
// terminated by a newline, negative, beyond 64 bits, not a number) or ENODATA (well-formed, but a key or a PSI line is
// not there: older kernels lack some). The fields concerned are NaN, the others good.
int ParseKernelText(const FileSpec& spec, std::string_view text, double* values);

// Every value of the file is unknown.
void ForgetValues(const FileSpec& spec, double* values);

}  // namespace evictd
