#include "read/windows/process_list.h"

#include <windows.h>
// After it, whose types they use.
#include <psapi.h>

#include <algorithm>
#include <utility>

#include "read/windows/process_snapshot.h"
#include "read/windows/process_times.h"
#include "system/system_error.h"
#include "system/windows/unique_handle.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

// The longest path that Windows has, with its NUL.
constexpr DWORD kPathUnits = 32768;

using IsCritical = BOOL(WINAPI*)(HANDLE, PBOOL);

// Looked up: a name that Wine lacks (8 does) would be a call into nothing there, and mingw-w64 does not declare it. All
// of Windows 8.1 and later have it.
IsCritical FindIsCritical() {
  const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
  // By way of void*: compilers warn of the other cast, which is the documented one.
  return reinterpret_cast<IsCritical>(reinterpret_cast<void*>(GetProcAddress(kernel, "IsProcessCritical")));
}

bool IsShortage(int error) {
  return error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_OUTOFMEMORY || error == ERROR_NO_SYSTEM_RESOURCES ||
         error == ERROR_COMMITMENT_LIMIT || error == ERROR_WORKING_SET_QUOTA || error == ERROR_NOT_ENOUGH_QUOTA;
}

// What the process itself tells. The first refusal stands in `error`; the others are asked all the same.
class Questions {
 public:
  Questions() : is_critical_(FindIsCritical()), path_(kPathUnits) {}

  // False: it has ended.
  bool Ask(ProcessEntry* entry) {
    const UniqueHandle process(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, entry->pid));
    if (!process) {
      const DWORD error = GetLastError();
      entry->error = static_cast<int>(error);
      return error != ERROR_INVALID_PARAMETER;
    }
    // Whoever has ended keeps its number while somebody holds it.
    DWORD code = STILL_ACTIVE;
    if (GetExitCodeProcess(process.get(), &code) && code != STILL_ACTIVE) return false;
    const ProcessTimes times = ReadProcessTimes(process.get());
    // Another one has its number by now, whose parent and name would be those of the first.
    if (times.error == 0 && times.created_at != entry->created_at) return false;
    Note(times.error, entry);
    entry->cpu_time_ns = times.cpu_time_ns;
    AskMemory(process.get(), entry);
    AskPath(process.get(), entry);
    DWORD session = 0;
    if (!ProcessIdToSessionId(entry->pid, &session)) Note(static_cast<int>(GetLastError()), entry);
    entry->session_id = session;
    BOOL critical = FALSE;
    if (is_critical_ != nullptr && !is_critical_(process.get(), &critical))
      Note(static_cast<int>(GetLastError()), entry);
    entry->critical = critical != FALSE;
    return true;
  }

 private:
  static void Note(int error, ProcessEntry* entry) {
    if (entry->error == 0) entry->error = error;
  }

  static void AskMemory(HANDLE process, ProcessEntry* entry) {
    PROCESS_MEMORY_COUNTERS_EX memory = {};
    memory.cb = sizeof memory;
    if (!K32GetProcessMemoryInfo(process, reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&memory), sizeof memory)) {
      Note(static_cast<int>(GetLastError()), entry);
      return;
    }
    entry->working_set_bytes = memory.WorkingSetSize;
    entry->private_bytes = memory.PrivateUsage;
  }

  void AskPath(HANDLE process, ProcessEntry* entry) {
    DWORD length = kPathUnits;
    if (QueryFullProcessImageNameW(process, 0, path_.data(), &length)) {
      entry->path = ToUtf8(path_.data(), length);
      return;
    }
    // The system's own (System, Registry, Memory Compression) have no file, and whose file is gone has no path.
    // Whatever is short of memory is a refusal: it may be somebody who is called critical by his path.
    const int error = static_cast<int>(GetLastError());
    if (IsShortage(error)) Note(error, entry);
  }

  IsCritical is_critical_;
  std::vector<wchar_t> path_;
};

}  // namespace

std::vector<ProcessEntry> AskProcesses(std::vector<SnapshotProcess> snapshot) {
  std::vector<ProcessEntry> entries;
  entries.reserve(snapshot.size());
  Questions questions;
  for (SnapshotProcess& found : snapshot) {
    ProcessEntry entry;
    entry.pid = found.pid;
    entry.parent_pid = found.parent_pid;
    entry.name = std::move(found.name);
    entry.created_at = found.created_at;
    if (questions.Ask(&entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ProcessEntry> ListProcesses() {
  std::vector<ProcessEntry> entries = AskProcesses(TakeProcessSnapshot());
  // Were the two times of a process ever not the same, this would be a list of nobody, and not an error.
  const DWORD self = GetCurrentProcessId();
  if (std::none_of(entries.begin(), entries.end(), [self](const ProcessEntry& entry) { return entry.pid == self; }))
    throw SystemError(ERROR_INVALID_DATA, "NtQuerySystemInformation");
  return entries;
}

}  // namespace evictd
