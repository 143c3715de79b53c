#pragma once

#include <napi.h>

#include <vector>

#include "read/linux/kernel_text.h"

namespace evictd {

// The contract's FileSpec[]. Throws a TypeError.
std::vector<FileSpec> FileSpecsArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
