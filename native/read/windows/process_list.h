#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/windows/process_snapshot.h"

namespace evictd {

// What was found of one process. The contract has the fields' meaning.
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
  uint32_t session_id = 0;
  bool critical = false;
};

// All processes, one after the other: a snapshot of who there is, then each is asked. Who ends meanwhile is left out,
// and so is the idle process (pid 0), which nobody can open. Throws SystemError where the snapshot is refused.
std::vector<ProcessEntry> ListProcesses();

// The second half of it: whoever is not the one of the snapshot any more is left out.
std::vector<ProcessEntry> AskProcesses(std::vector<SnapshotProcess> snapshot);

}  // namespace evictd
