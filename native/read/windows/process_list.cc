#include "read/windows/process_list.h"

#include <windows.h>
// after windows.h, whose types it uses
#include <psapi.h>

#include <algorithm>
#include <utility>

#include "read/windows/process_times.h"
#include "system/system_error.h"
#include "system/windows/unique_handle.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

// the longest path of Windows, with NUL
constexpr DWORD kPathUnits = 32768;

using IsCritical = BOOL(WINAPI*)(HANDLE, PBOOL);

// Looked up: Wine 8 lacks it and mingw-w64 does not declare it. Windows 8.1 and later have it.
IsCritical FindIsCritical() {
  const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
  // Through void*: compilers warn of the direct cast, which is the documented one.
  return reinterpret_cast<IsCritical>(reinterpret_cast<void*>(GetProcAddress(kernel, "IsProcessCritical")));
}

bool IsShortage(int error) {
  return error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_OUTOFMEMORY || error == ERROR_NO_SYSTEM_RESOURCES ||
         error == ERROR_COMMITMENT_LIMIT || error == ERROR_WORKING_SET_QUOTA || error == ERROR_NOT_ENOUGH_QUOTA;
}

// Reads one process. Keeps the first error and goes on.
class ProcessQuery {
 public:
  ProcessQuery() : is_critical_(FindIsCritical()), path_(kPathUnits) {}

  // Returns false if the process has ended.
  bool Run(ProcessEntry* entry) {
    const UniqueHandle process(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, entry->pid));
    if (!process) {
      const DWORD error = GetLastError();
      entry->error = static_cast<int>(error);
      return error != ERROR_INVALID_PARAMETER;
    }
    // An ended process keeps its pid while a handle to it is open.
    DWORD code = STILL_ACTIVE;
    if (GetExitCodeProcess(process.get(), &code) && code != STILL_ACTIVE) return false;
    const ProcessTimes times = ReadProcessTimes(process.get());
    // The pid belongs to another process by now.
    if (times.error == 0 && times.created_at != entry->created_at) return false;
    KeepError(times.error, entry);
    entry->cpu_time_ns = times.cpu_time_ns;
    QueryMemory(process.get(), entry);
    QueryPath(process.get(), entry);
    BOOL critical = FALSE;
    if (is_critical_ != nullptr && !is_critical_(process.get(), &critical))
      KeepError(static_cast<int>(GetLastError()), entry);
    entry->critical = critical != FALSE;
    return true;
  }

 private:
  static void KeepError(int error, ProcessEntry* entry) {
    if (entry->error == 0) entry->error = error;
  }

  static void QueryMemory(HANDLE process, ProcessEntry* entry) {
    PROCESS_MEMORY_COUNTERS_EX memory = {};
    memory.cb = sizeof memory;
    if (!K32GetProcessMemoryInfo(process, reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&memory), sizeof memory)) {
      KeepError(static_cast<int>(GetLastError()), entry);
      return;
    }
    entry->working_set_bytes = memory.WorkingSetSize;
    entry->private_bytes = memory.PrivateUsage;
  }

  void QueryPath(HANDLE process, ProcessEntry* entry) {
    DWORD length = kPathUnits;
    if (QueryFullProcessImageNameW(process, 0, path_.data(), &length)) {
      entry->path = ToUtf8(path_.data(), length);
      return;
    }
    // System processes (System, Registry, Memory Compression) and those of a deleted file have no path. A shortage is
    // an error: the path may mark the process as critical.
    const int error = static_cast<int>(GetLastError());
    if (IsShortage(error)) KeepError(error, entry);
  }

  IsCritical is_critical_;
  std::vector<wchar_t> path_;
};

}  // namespace

std::vector<ProcessEntry> QueryProcesses(std::vector<SnapshotProcess> snapshot) {
  std::vector<ProcessEntry> entries;
  entries.reserve(snapshot.size());
  ProcessQuery query;
  for (SnapshotProcess& found : snapshot) {
    ProcessEntry entry;
    entry.pid = found.pid;
    entry.parent_pid = found.parent_pid;
    entry.name = std::move(found.name);
    entry.created_at = found.created_at;
    if (query.Run(&entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ProcessEntry> ListProcesses() {
  std::vector<ProcessEntry> entries = QueryProcesses(TakeProcessSnapshot());
  // Fails instead of returning an empty list if the two creation times of a process ever differ.
  const DWORD self = GetCurrentProcessId();
  if (std::none_of(entries.begin(), entries.end(), [self](const ProcessEntry& entry) { return entry.pid == self; }))
    throw SystemError(ERROR_INVALID_DATA, "NtQuerySystemInformation");
  return entries;
}

}  // namespace evictd
