#pragma once

#include <napi.h>

#include <memory>

#include "filesystem/filesystem_stats.h"

namespace evictd {

// Returns the object behind a JavaScript FilesystemStats; it expires when JavaScript closes it. Throws a TypeError, or
// EBADF if it is closed.
std::weak_ptr<FilesystemStats> FilesystemStatsArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
