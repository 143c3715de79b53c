#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>

namespace evictd {

// The job limits that evictd uses. 0: none.
struct JobLimits {
  uint64_t commit_bytes = 0;
  uint64_t commit_bytes_per_process = 0;
  uint32_t active_processes = 0;
};

// 0: removes the limit.
struct JobLimitChange {
  std::optional<uint64_t> commit_bytes;
  std::optional<uint64_t> commit_bytes_per_process;
  std::optional<uint32_t> active_processes;
};

JobLimits LimitsOf(const JOBOBJECT_EXTENDED_LIMIT_INFORMATION& information);

// The system sets all limits at once, so `information` has to hold the current ones.
void Apply(const JobLimitChange& change, JOBOBJECT_EXTENDED_LIMIT_INFORMATION* information);

}  // namespace evictd
