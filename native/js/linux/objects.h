#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "filesystem/filesystem_stats.h"
#include "kill/linux/memory_reaper.h"
#include "read/linux/kernel_text.h"
#include "sample/linux/sampled_value.h"

namespace evictd {

// The constructors of the addon's classes, each defined in the file of its name. First the watches.
Napi::Function DefineMemcgThreshold(Napi::Env env);
Napi::Function DefinePsiTrigger(Napi::Env env);
Napi::Function DefineMemcgEvents(Napi::Env env);
Napi::Function DefineOomControl(Napi::Env env);
Napi::Function DefineSampler(Napi::Env env);
Napi::Function DefineCgroupTree(Napi::Env env);
Napi::Function DefineProcessExit(Napi::Env env);
Napi::Function DefineKernelLog(Napi::Env env);
Napi::Function DefineStandingOrder(Napi::Env env);

Napi::Function DefineFileReader(Napi::Env env);
Napi::Function DefineCgroupTable(Napi::Env env);
Napi::Function DefineFilesystemStats(Napi::Env env);
Napi::Function DefineDeletedFiles(Napi::Env env);
Napi::Function DefineDirectoryUsage(Napi::Env env);
Napi::Function DefineFilesystemTree(Napi::Env env);
Napi::Function DefineCgroupHandle(Napi::Env env);
Napi::Function DefinePidfd(Napi::Env env);
Napi::Function DefineMemoryReaper(Napi::Env env);
Napi::Function DefineNotifySocket(Napi::Env env);
Napi::Function DefineChildProgram(Napi::Env env);
Napi::Function DefineFileStatuses(Napi::Env env);

void DefineFileCalls(Napi::Env env, Napi::Object exports);
// For tests: the kills in these records of /dev/kmsg.
Napi::Value ParseOomRecords(const Napi::CallbackInfo& info);

// Returns nullptr for undefined and for a closed reaper. Throws a TypeError for anything else that is not a reaper.
std::shared_ptr<MemoryReaper> MemoryReaperArgument(const Napi::Value& value, const char* name);

// Returns the object behind a JavaScript FilesystemStats; it expires when JavaScript closes it. Throws a TypeError, or
// EBADF if it is closed.
std::weak_ptr<FilesystemStats> FilesystemStatsArgument(const Napi::Value& value, const char* name);

// The contract's SampledValue of kernel files. Throws a TypeError, a RangeError, or what reading the files throws.
std::unique_ptr<SampledValue> FileSumArgument(const Napi::Object& options);

// The contract's FileSpec[]. Throws a TypeError.
std::vector<FileSpec> FileSpecsArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
