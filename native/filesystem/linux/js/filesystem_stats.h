#pragma once

#include <napi.h>

#include <memory>

#include "filesystem/filesystem_stats.h"

namespace evictd {

// What a FilesystemStats that a caller passed measures with. Expired once JavaScript closed it. Throws a TypeError, or
// EBADF where it is closed already.
std::weak_ptr<FilesystemStats> FilesystemStatsArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
