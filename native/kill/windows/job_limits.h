#pragma once

#include <windows.h>

#include <cstdint>

namespace evictd {

// The memory that all processes of a job may commit together, in bytes. 0: no limit.
uint64_t CommitLimitOf(const JOBOBJECT_EXTENDED_LIMIT_INFORMATION& limits);

// The system sets all limits at once, so `limits` has to hold the current ones.
void SetCommitLimit(uint64_t bytes, JOBOBJECT_EXTENDED_LIMIT_INFORMATION* limits);

}  // namespace evictd
