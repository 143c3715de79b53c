#include "service/windows/services.h"

#include <windows.h>
// after windows.h, whose types they use
#include <winsvc.h>

#include <memory>

#include "system/system_error.h"
#include "system/windows/thread.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

// A handle of the service manager; CloseHandle does not take those.
class ServiceHandle {
 public:
  ServiceHandle(SC_HANDLE handle, const char* syscall, const std::string& name) : handle_(handle) {
    if (handle == nullptr) throw SystemError(static_cast<int>(GetLastError()), syscall, name);
  }
  ServiceHandle(const ServiceHandle&) = delete;
  ServiceHandle& operator=(const ServiceHandle&) = delete;
  ~ServiceHandle() { CloseServiceHandle(handle_); }

  SC_HANDLE get() const { return handle_; }

 private:
  SC_HANDLE handle_;
};

ServiceHandle OpenManager(DWORD access) {
  return ServiceHandle(OpenSCManagerW(nullptr, nullptr, access), "OpenSCManagerW", std::string());
}

// the call's maximum
constexpr DWORD kPageBytes = 256 * 1024;

ServiceEntry EntryOf(const ENUM_SERVICE_STATUS_PROCESSW& found) {
  const SERVICE_STATUS_PROCESS& status = found.ServiceStatusProcess;
  ServiceEntry entry;
  entry.name = ToUtf8(found.lpServiceName);
  entry.state = status.dwCurrentState;
  entry.pid = status.dwProcessId;
  entry.own_process = (status.dwServiceType & SERVICE_WIN32_OWN_PROCESS) != 0;
  entry.accepts_stop = (status.dwControlsAccepted & SERVICE_ACCEPT_STOP) != 0;
  return entry;
}

// The service itself answers the call, within half a minute, so it runs on a separate thread.
class StopCall {
 public:
  explicit StopCall(const std::string& name)
      : name_(name),
        manager_(OpenManager(SC_MANAGER_CONNECT)),
        service_(OpenServiceW(manager_.get(), ToWide(name).c_str(), SERVICE_STOP), "OpenServiceW", name) {}

  static DWORD WINAPI Run(void* held) {
    const std::unique_ptr<std::shared_ptr<StopCall>> own(static_cast<std::shared_ptr<StopCall>*>(held));
    SERVICE_STATUS status = {};
    if (!ControlService((*own)->service_.get(), SERVICE_CONTROL_STOP, &status)) (*own)->error_ = GetLastError();
    return 0;
  }

  // Called after the thread has ended.
  void ThrowFailure() const {
    if (error_ != ERROR_SUCCESS) throw SystemError(static_cast<int>(error_), "ControlService", name_);
  }

 private:
  const std::string name_;
  const ServiceHandle manager_;
  const ServiceHandle service_;
  DWORD error_ = ERROR_SUCCESS;
};

// the longest delay for JavaScript
constexpr DWORD kStopAnswerMs = 500;

}  // namespace

std::vector<ServiceEntry> ListServices() {
  const ServiceHandle manager = OpenManager(SC_MANAGER_CONNECT | SC_MANAGER_ENUMERATE_SERVICE);
  // uint64_t: the alignment of the structures.
  std::vector<uint64_t> page(kPageBytes / sizeof(uint64_t));
  std::vector<ServiceEntry> entries;
  DWORD resume = 0;
  for (;;) {
    DWORD missing = 0;
    DWORD count = 0;
    const bool all = EnumServicesStatusExW(manager.get(), SC_ENUM_PROCESS_INFO, SERVICE_WIN32, SERVICE_STATE_ALL,
                                           reinterpret_cast<BYTE*>(page.data()), kPageBytes, &missing, &count, &resume,
                                           nullptr) != 0;
    const DWORD error = all ? ERROR_SUCCESS : GetLastError();
    if (!all && error != ERROR_MORE_DATA) throw SystemError(static_cast<int>(error), "EnumServicesStatusExW");
    const auto* const found = reinterpret_cast<const ENUM_SERVICE_STATUS_PROCESSW*>(page.data());
    for (DWORD i = 0; i < count; i++) entries.push_back(EntryOf(found[i]));
    if (all) return entries;
    // No entry fits: the loop would not end.
    if (count == 0) throw SystemError(static_cast<int>(error), "EnumServicesStatusExW");
  }
}

void StopService(const std::string& name) {
  auto call = std::make_shared<StopCall>(name);
  auto held = std::make_unique<std::shared_ptr<StopCall>>(call);
  const UniqueHandle thread = StartThread(&StopCall::Run, held.get());
  static_cast<void>(held.release());  // the thread owns it
  if (WaitForSingleObject(thread.get(), kStopAnswerMs) == WAIT_OBJECT_0) call->ThrowFailure();
}

}  // namespace evictd
