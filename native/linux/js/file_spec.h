#ifndef EVICTD_LINUX_JS_FILE_SPEC_H_
#define EVICTD_LINUX_JS_FILE_SPEC_H_

#include <napi.h>

#include <vector>

#include "linux/kernel_text.h"

namespace evictd {

// The contract's FileSpec[]. Throws a TypeError.
std::vector<FileSpec> FileSpecsArgument(const Napi::Value& value, const char* name);

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_FILE_SPEC_H_
