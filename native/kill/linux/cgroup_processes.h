#pragma once

#include <sys/types.h>

#include <vector>

namespace evictd {

// Appends the pids of cgroup.procs of a cgroup and of all below it. Returns 0 or the first errno; what vanished
// meanwhile is no failure.
//
// Every call opens the files anew. On cgroup v1 that is what makes the list fresh: the kernel builds it at the first
// read after an open, and a kept descriptor goes on reading that old list for as long as it is cached
// (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start).
int AppendProcesses(int directory, std::vector<pid_t>* pids);

}  // namespace evictd
