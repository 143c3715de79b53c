#include "read/windows/process_snapshot.h"

#include <windows.h>
// after windows.h, whose types it uses
#include <winternl.h>

#include <cstddef>
#include <utility>

#include "system/system_error.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

// The beginning of SYSTEM_PROCESS_INFORMATION. Microsoft's winternl.h does not name the times.
struct ProcessInformation {
  ULONG next_offset;  // 0: the last
  ULONG thread_count;
  LARGE_INTEGER others[3];
  LARGE_INTEGER create_time;
  LARGE_INTEGER user_time;
  LARGE_INTEGER kernel_time;
  UNICODE_STRING image_name;
  LONG base_priority;
  HANDLE pid;
  HANDLE parent_pid;
};
static_assert(offsetof(ProcessInformation, image_name) == offsetof(SYSTEM_PROCESS_INFORMATION, ImageName),
              "winternl.h");
static_assert(offsetof(ProcessInformation, pid) == offsetof(SYSTEM_PROCESS_INFORMATION, UniqueProcessId), "winternl.h");

// Looked up, because nothing links to ntdll. Every Windows has them.
using Query = NTSTATUS(NTAPI*)(SYSTEM_INFORMATION_CLASS, PVOID, ULONG, PULONG);
using ToError = ULONG(NTAPI*)(NTSTATUS);

template <typename Function>
Function Find(const char* name) {
  // Through void*: compilers warn of the direct cast, which is the documented one.
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
}

constexpr NTSTATUS kTooShort = static_cast<NTSTATUS>(0xC0000004);  // STATUS_INFO_LENGTH_MISMATCH
// Room for some hundred processes with their threads; then more, for those that start between two calls.
constexpr ULONG kFirstBytes = 512 * 1024;
constexpr ULONG kMoreBytes = 64 * 1024;
constexpr int kMostTries = 8;

// uint64_t: the alignment of the structures.
std::vector<uint64_t> Read() {
  const auto query = Find<Query>("NtQuerySystemInformation");
  const auto to_error = Find<ToError>("RtlNtStatusToDosError");
  if (query == nullptr || to_error == nullptr) throw SystemError(ERROR_PROC_NOT_FOUND, "GetProcAddress");
  ULONG bytes = kFirstBytes;
  NTSTATUS status = kTooShort;
  for (int tries = 0; tries < kMostTries && status == kTooShort; tries++) {
    std::vector<uint64_t> buffer(bytes / sizeof(uint64_t));
    ULONG needed = 0;
    status = query(SystemProcessInformation, buffer.data(), bytes, &needed);
    if (status >= 0) return buffer;
    bytes = (needed > bytes ? needed : bytes) / kMoreBytes * kMoreBytes + 2 * kMoreBytes;
  }
  throw SystemError(static_cast<int>(to_error(status)), "NtQuerySystemInformation");
}

uint32_t Number(HANDLE id) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(id)); }

}  // namespace

std::vector<SnapshotProcess> TakeProcessSnapshot() {
  const std::vector<uint64_t> buffer = Read();
  std::vector<SnapshotProcess> processes;
  for (const auto* at = reinterpret_cast<const unsigned char*>(buffer.data());;) {
    const auto* const found = reinterpret_cast<const ProcessInformation*>(at);
    SnapshotProcess process;
    process.pid = Number(found->pid);
    process.parent_pid = Number(found->parent_pid);
    if (found->image_name.Buffer != nullptr)
      process.name = ToUtf8(found->image_name.Buffer, found->image_name.Length / sizeof(wchar_t));
    process.created_at = static_cast<uint64_t>(found->create_time.QuadPart);
    processes.push_back(std::move(process));
    if (found->next_offset == 0) return processes;
    at += found->next_offset;
  }
}

}  // namespace evictd
