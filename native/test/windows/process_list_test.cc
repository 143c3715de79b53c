// A reused pid cannot be produced on purpose, so this uses a snapshot with another creation time. Exit code: the line
// of the failed check.
#include "read/windows/process_list.h"

#include <windows.h>

#include <algorithm>

#define HOLDS(what) \
  if (!(what)) return __LINE__

int main() {
  const std::vector<evictd::SnapshotProcess> all = evictd::TakeProcessSnapshot();
  const uint32_t self = GetCurrentProcessId();
  const auto own = std::find_if(all.begin(), all.end(), [self](const auto& one) { return one.pid == self; });
  HOLDS(own != all.end() && own->name == "process_list_test.exe" && own->created_at != 0 && own->parent_pid != self);

  // Only the time differs: another process.
  std::vector<evictd::ProcessEntry> entries = evictd::QueryProcesses({*own});
  HOLDS(entries.size() == 1 && entries[0].error == 0 && entries[0].created_at == own->created_at);
  HOLDS(entries[0].name == own->name && entries[0].parent_pid == own->parent_pid && !entries[0].path.empty());
  evictd::SnapshotProcess before = *own;
  before.created_at -= 1;
  HOLDS(evictd::QueryProcesses({before}).empty());

  // All other processes match, so none is lost.
  entries = evictd::ListProcesses();
  HOLDS(std::count_if(all.begin(), all.end(), [&entries](const auto& one) {
          return std::any_of(entries.begin(), entries.end(),
                             [&one](const auto& entry) { return entry.pid == one.pid; });
        }) >= static_cast<std::ptrdiff_t>(all.size()) - 1);  // except the idle process, which Wine lacks
  return 0;
}
