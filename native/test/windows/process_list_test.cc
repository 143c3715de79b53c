// A number that another process has by the time that it is asked cannot be had on purpose: tried on a snapshot that
// says so. Exit code: the line of what was not so.
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

  // Nothing but the time differs: it is another one.
  std::vector<evictd::ProcessEntry> entries = evictd::QueryProcesses({*own});
  HOLDS(entries.size() == 1 && entries[0].error == 0 && entries[0].created_at == own->created_at);
  HOLDS(entries[0].name == own->name && entries[0].parent_pid == own->parent_pid && !entries[0].path.empty());
  evictd::SnapshotProcess before = *own;
  before.created_at -= 1;
  HOLDS(evictd::QueryProcesses({before}).empty());

  // All others agree, too: nobody is lost.
  entries = evictd::ListProcesses();
  HOLDS(std::count_if(all.begin(), all.end(), [&entries](const auto& one) {
          return std::any_of(entries.begin(), entries.end(),
                             [&one](const auto& entry) { return entry.pid == one.pid; });
        }) >= static_cast<std::ptrdiff_t>(all.size()) - 1);  // but the idle process, which Wine has not
  return 0;
}
