#pragma once

#include <napi.h>

#include "kill/linux/memory_reaper.h"

namespace evictd {

// Returns nullptr for undefined and for a closed reaper. Throws a TypeError for anything else that is no reaper.
MemoryReaper* MemoryReaperArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
