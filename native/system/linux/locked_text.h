#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace evictd {

struct LockedText {
  size_t bytes = 0;  // of the locked mappings, including pages not yet in memory
  int error = 0;     // the first failure: ENOMEM, EPERM (RLIMIT_MEMLOCK without CAP_IPC_LOCK), ENOSYS
};

struct FileMapping {
  uintptr_t begin;
  uintptr_t end;
};

// The mappings in a /proc/PID/smaps whose pages can all be read again from their file: those that are not writable and
// have no page of their own, in memory or in swap. Relocated data has such pages, and so has the code of a Node that
// has moved it into huge pages.
std::vector<FileMapping> MappingsOfFiles(FILE* smaps);

// Keeps this process's machine code in memory: mlock2(MLOCK_ONFAULT) on the executable segments of the addon, the
// program and its libraries. Never V8's memory: freeing or protecting locked pages fails, and V8 aborts then. Loads no
// page. To be called when all is open: unmaps the file pages that the start has used, and malloc gives back what the
// start has freed. What is used from now on is locked.
LockedText LockText();

}  // namespace evictd
