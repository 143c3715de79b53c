#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>

namespace evictd {

// Those of a job's limits that evictd knows. 0: none.
struct JobLimits {
  uint64_t commit_bytes = 0;
  uint64_t commit_bytes_per_process = 0;
  uint32_t active_processes = 0;
};

// What is to change of them; 0: no limit any more.
struct JobLimitChange {
  std::optional<uint64_t> commit_bytes;
  std::optional<uint64_t> commit_bytes_per_process;
  std::optional<uint32_t> active_processes;
};

JobLimits LimitsOf(const JOBOBJECT_EXTENDED_LIMIT_INFORMATION& information);

// The system sets all limits at once: `information` as it was read, with what is to change.
void Apply(const JobLimitChange& change, JOBOBJECT_EXTENDED_LIMIT_INFORMATION* information);

}  // namespace evictd
