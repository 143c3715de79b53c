#include "kill/windows/process_handle.h"

#include "read/windows/process_times.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr DWORD kAccess = PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE;

UniqueHandle Open(uint32_t pid, DWORD access) {
  UniqueHandle process(OpenProcess(access, FALSE, pid));
  if (!process) throw SystemError(static_cast<int>(GetLastError()), "OpenProcess");
  return process;
}

}  // namespace

ProcessHandle::ProcessHandle(uint32_t pid, uint64_t created_at) : pid_(pid), process_(Open(pid, kAccess)) {
  const ProcessTimes times = ReadProcessTimes(process_.get());
  if (times.error != 0) throw SystemError(times.error, "GetProcessTimes");
  // The error of an unused pid: the intended process is gone.
  if (times.created_at != created_at) throw SystemError(ERROR_INVALID_PARAMETER, "OpenProcess");
}

void ProcessHandle::Terminate(uint32_t exit_code) {
  if (TerminateProcess(process_.get(), exit_code)) return;
  const DWORD error = GetLastError();
  // The handle has the right to terminate, so this denial means that the process is ending.
  if (error != ERROR_ACCESS_DENIED) throw SystemError(static_cast<int>(error), "TerminateProcess");
}

std::optional<uint32_t> ProcessHandle::ExitCode() const {
  // Not by the exit code: an ended process may have STILL_ACTIVE (259).
  switch (WaitForSingleObject(process_.get(), 0)) {
    case WAIT_TIMEOUT:
      return std::nullopt;
    case WAIT_OBJECT_0:
      break;
    default:
      throw SystemError(static_cast<int>(GetLastError()), "WaitForSingleObject");
  }
  DWORD code = 0;
  if (!GetExitCodeProcess(process_.get(), &code))
    throw SystemError(static_cast<int>(GetLastError()), "GetExitCodeProcess");
  return static_cast<uint32_t>(code);
}

UniqueHandle ProcessHandle::OpenForJob() const { return Open(pid_, PROCESS_SET_QUOTA | PROCESS_TERMINATE); }

}  // namespace evictd
