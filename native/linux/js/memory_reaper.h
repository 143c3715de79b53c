#ifndef EVICTD_LINUX_JS_MEMORY_REAPER_H_
#define EVICTD_LINUX_JS_MEMORY_REAPER_H_

#include <napi.h>

#include "linux/memory_reaper.h"

namespace evictd {

// The reaper behind an argument. undefined, and one that was closed: nullptr. Throws a TypeError for anything else.
MemoryReaper* MemoryReaperArgument(const Napi::Value& value, const char* name);

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_MEMORY_REAPER_H_
