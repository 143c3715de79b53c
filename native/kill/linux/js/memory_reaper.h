#pragma once

#include <napi.h>

#include "kill/linux/memory_reaper.h"

namespace evictd {

// The reaper behind an argument. undefined, and one that was closed: nullptr. Throws a TypeError for anything else.
MemoryReaper* MemoryReaperArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
