#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/windows/process_snapshot.h"

namespace evictd {
struct ProcessEntry {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string name;
  int error = 0;
  uint64_t created_at = 0;
  std::string path;
  uint64_t working_set_bytes = 0;
  uint64_t private_bytes = 0;
  uint64_t cpu_time_ns = 0;
  bool critical = false;
};

// All processes: a snapshot, then one query each. Leaves out processes that end meanwhile and the idle process (pid 0),
// which cannot be opened. Throws SystemError if the snapshot fails.
std::vector<ProcessEntry> ListProcesses();

// Queries each process, and leaves out pids that another process has taken.
std::vector<ProcessEntry> QueryProcesses(std::vector<SnapshotProcess> snapshot);

}  // namespace evictd
