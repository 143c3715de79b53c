#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

struct SnapshotProcess {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string name;         // the file name of the program
  uint64_t created_at = 0;  // 100 ns since 1601, UTC
};

// All processes at one moment, by NtQuerySystemInformation. Toolhelp leaves out the creation time, without which a
// reused pid cannot be detected. Throws SystemError.
std::vector<SnapshotProcess> TakeProcessSnapshot();

}  // namespace evictd
