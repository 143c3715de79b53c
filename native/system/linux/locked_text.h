#pragma once

#include <cstddef>

namespace evictd {

struct LockedText {
  size_t bytes = 0;  // of the mappings that are locked; pages of them that were never used take no memory
  int error = 0;     // the first refusal: ENOMEM, EPERM (RLIMIT_MEMLOCK without CAP_IPC_LOCK), ENOSYS
};

// Keeps the machine code of this process in memory: mlock2(MLOCK_ONFAULT) on the executable segments of the addon, of
// the main executable and of the libraries, as the dynamic loader has mapped them. Never anything that is V8's: freeing
// or protecting pages of its heap fails on locked memory, and V8 aborts then. Nothing is read in by it.
LockedText LockText();

}  // namespace evictd
