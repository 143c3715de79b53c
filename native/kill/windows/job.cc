#include "kill/windows/job.h"

#include <cstddef>

#include "system/system_error.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

constexpr DWORD kAccess =
    JOB_OBJECT_QUERY | JOB_OBJECT_SET_ATTRIBUTES | JOB_OBJECT_ASSIGN_PROCESS | JOB_OBJECT_TERMINATE;

// The room for new processes: between two calls a job does not grow by more.
constexpr size_t kMargin = 64;

}  // namespace

Job::Job(const std::string& name, Mode mode) : name_(name) {
  const std::wstring wide = ToWide(name);
  if (mode == Mode::kOpen) {
    job_.Reset(OpenJobObjectW(kAccess, FALSE, wide.c_str()));
    if (!job_) Throw("OpenJobObjectW", GetLastError());
    return;
  }
  job_.Reset(CreateJobObjectW(nullptr, wide.c_str()));
  // The call opens an existing job and reports that only by this error.
  const DWORD error = GetLastError();
  if (!job_ || error == ERROR_ALREADY_EXISTS) Throw("CreateJobObjectW", error);
}

std::vector<uint32_t> Job::Processes() const {
  // ULONG_PTR: the alignment of the structure.
  constexpr size_t kHead = offsetof(JOBOBJECT_BASIC_PROCESS_ID_LIST, ProcessIdList) / sizeof(ULONG_PTR);
  std::vector<ULONG_PTR> buffer(kHead + kMargin);
  for (;;) {
    auto* const list = reinterpret_cast<JOBOBJECT_BASIC_PROCESS_ID_LIST*>(buffer.data());
    const bool whole = QueryInformationJobObject(job_.get(), JobObjectBasicProcessIdList, list,
                                                 static_cast<DWORD>(buffer.size() * sizeof(ULONG_PTR)), nullptr);
    if (whole) {
      std::vector<uint32_t> pids;
      pids.reserve(list->NumberOfProcessIdsInList);
      for (DWORD i = 0; i < list->NumberOfProcessIdsInList; i++) {
        pids.push_back(static_cast<uint32_t>(list->ProcessIdList[i]));
      }
      return pids;
    }
    const DWORD error = GetLastError();
    if (error != ERROR_MORE_DATA) Throw("QueryInformationJobObject", error);
    // Always larger than before, or the loop might not end.
    buffer.resize(buffer.size() + list->NumberOfAssignedProcesses + kMargin);
  }
}

JOBOBJECT_EXTENDED_LIMIT_INFORMATION Job::Limits() const {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
  if (!QueryInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits, nullptr)) {
    Throw("QueryInformationJobObject", GetLastError());
  }
  return limits;
}

uint64_t Job::CommitLimit() const { return CommitLimitOf(Limits()); }

void Job::SetCommitLimit(uint64_t bytes) {
  auto limits = Limits();
  evictd::SetCommitLimit(bytes, &limits);
  if (!SetInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits)) {
    Throw("SetInformationJobObject", GetLastError());
  }
}

void Job::Assign(HANDLE process) {
  if (!AssignProcessToJobObject(job_.get(), process)) Throw("AssignProcessToJobObject", GetLastError());
}

void Job::Terminate(uint32_t exit_code) {
  if (!TerminateJobObject(job_.get(), exit_code)) Throw("TerminateJobObject", GetLastError());
}

void Job::Throw(const char* syscall, DWORD error) const { throw SystemError(static_cast<int>(error), syscall, name_); }

}  // namespace evictd
