#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// A process as the system has it at one moment.
struct SnapshotProcess {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string name;         // the file name of its program
  uint64_t created_at = 0;  // 100 ns since 1601, UTC
};

// All of one moment, by NtQuerySystemInformation: Toolhelp, which is made of it, leaves the time out, and without that
// whoever asks a process later cannot tell whether another one has its number by then. Throws SystemError.
std::vector<SnapshotProcess> TakeProcessSnapshot();

}  // namespace evictd
