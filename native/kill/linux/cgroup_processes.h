#pragma once

#include <sys/types.h>

#include <vector>

namespace evictd {

// Appends the pids of a cgroup and of all cgroups below it. Returns 0 or the first errno; what vanished meanwhile is no
// failure.
//
// Each call opens cgroup.procs anew. On v1 the kernel builds the list at the first read after an open, and a kept
// descriptor reads the cached list (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start).
int AppendProcesses(int directory, std::vector<pid_t>* pids);

}  // namespace evictd
