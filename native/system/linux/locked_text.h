#pragma once

#include <cstddef>

namespace evictd {

struct LockedText {
  size_t bytes = 0;  // of the locked mappings, including pages not yet in memory
  int error = 0;     // the first failure: ENOMEM, EPERM (RLIMIT_MEMLOCK without CAP_IPC_LOCK), ENOSYS
};

// Keeps this process's machine code in memory: mlock2(MLOCK_ONFAULT) on the executable segments of the addon, the
// program and its libraries. Never V8's memory: freeing or protecting locked pages fails, and V8 aborts then. Loads no
// page, and unmaps those that only the start has used: what is used from now on is locked.
LockedText LockText();

}  // namespace evictd
