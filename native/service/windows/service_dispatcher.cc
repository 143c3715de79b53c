#include "service/windows/service_dispatcher.h"

#include <utility>

#include "system/detached_thread.h"
#include "system/system_error.h"
#include "system/windows/wide_text.h"

namespace evictd {

namespace {

// The running dispatcher of this process: ServiceMain receives only a name, so it finds the object here. Set while its
// thread, which owns it, is in StartServiceCtrlDispatcher.
std::atomic<ServiceDispatcher*> running{nullptr};

// delay before a failed notification is repeated
constexpr DWORD kRetryMs = 100;

}  // namespace

ServiceDispatcher::ServiceDispatcher(const std::string& name, std::shared_ptr<Waker> waker)
    : name_(ToWide(name)), waker_(std::move(waker)) {}

void ServiceDispatcher::Start() {
  ServiceDispatcher* none = nullptr;
  if (!running.compare_exchange_strong(none, this)) {
    throw SystemError(ERROR_SERVICE_ALREADY_RUNNING, "StartServiceCtrlDispatcherW");
  }
  try {
    StartDetachedThread("evictd-service", [held = shared_from_this()] { held->Dispatch(); });
  } catch (...) {
    running = nullptr;
    throw;
  }
}

void ServiceDispatcher::Dispatch() {
  const SERVICE_TABLE_ENTRYW services[] = {{name_.data(), &Main}, {nullptr, nullptr}};
  const DWORD error = StartServiceCtrlDispatcherW(services) ? ERROR_SUCCESS : GetLastError();
  running = nullptr;
  if (error != ERROR_SUCCESS) Fail(error);
}

void WINAPI ServiceDispatcher::Main(DWORD, wchar_t**) {
  // Its own reference: the dispatcher's thread may end as soon as it has reported SERVICE_STOPPED.
  const std::shared_ptr<ServiceDispatcher> dispatcher = running.load()->shared_from_this();
  dispatcher->Begin();
}

// Runs on the service's own thread; the service continues after it returns.
void ServiceDispatcher::Begin() {
  std::unique_lock<std::mutex> lock(mutex_);
  status_ = RegisterServiceCtrlHandlerExW(name_.c_str(), &Handle, this);
  if (status_ == nullptr) {
    const DWORD error = GetLastError();
    lock.unlock();
    Fail(error);
    return;
  }
  if (closed_) {
    Abort();
    return;
  }
  Set(SERVICE_START_PENDING, 0, 0);
  lock.unlock();
  Post(kStart);
}

// Runs on the dispatcher's thread, which holds the object.
DWORD WINAPI ServiceDispatcher::Handle(DWORD control, DWORD, void*, void* dispatcher) {
  switch (control) {
    case SERVICE_CONTROL_INTERROGATE:
      return NO_ERROR;
    case SERVICE_CONTROL_STOP:
      static_cast<ServiceDispatcher*>(dispatcher)->Post(kStop);
      return NO_ERROR;
    case SERVICE_CONTROL_SHUTDOWN:
      static_cast<ServiceDispatcher*>(dispatcher)->Post(kShutdown);
      return NO_ERROR;
    default:
      return ERROR_CALL_NOT_IMPLEMENTED;
  }
}

void ServiceDispatcher::Fail(DWORD error) {
  error_ = static_cast<int>(error);
  Post(kFailed);
}

void ServiceDispatcher::Post(Control control) {
  controls_ |= control;
  while (!closed_ && !waker_->Notify()) Sleep(kRetryMs);
}

void ServiceDispatcher::Report(DWORD state, DWORD wait_hint_ms, DWORD exit_code) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const DWORD error = status_ == nullptr ? ERROR_SERVICE_NOT_ACTIVE : Set(state, wait_hint_ms, exit_code);
  if (error != ERROR_SUCCESS) throw SystemError(static_cast<int>(error), "SetServiceStatus");
}

void ServiceDispatcher::Close() {
  closed_ = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status_ != nullptr) Abort();
}

DWORD ServiceDispatcher::Set(DWORD state, DWORD wait_hint_ms, DWORD exit_code) {
  SERVICE_STATUS status = {};
  status.dwCurrentState = state;
  status.dwWaitHint = wait_hint_ms;
  if (state == SERVICE_RUNNING) status.dwControlsAccepted = SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN;
  // Pending states count up: the manager takes a service whose checkpoint stands still for hung.
  if (state == SERVICE_START_PENDING || state == SERVICE_STOP_PENDING) status.dwCheckPoint = ++checkpoint_;
  if (exit_code != 0) {
    status.dwWin32ExitCode = ERROR_SERVICE_SPECIFIC_ERROR;
    status.dwServiceSpecificExitCode = exit_code;
  }
  return SetStatus(&status);
}

void ServiceDispatcher::Abort() {
  SERVICE_STATUS status = {};
  status.dwCurrentState = SERVICE_STOPPED;
  status.dwWin32ExitCode = ERROR_PROCESS_ABORTED;
  SetStatus(&status);
}

DWORD ServiceDispatcher::SetStatus(SERVICE_STATUS* status) {
  status->dwServiceType = SERVICE_WIN32_OWN_PROCESS;
  const SERVICE_STATUS_HANDLE handle = status_;
  // A stopped service has no status: setting it again is an error, and may crash.
  if (status->dwCurrentState == SERVICE_STOPPED) status_ = nullptr;
  return SetServiceStatus(handle, status) ? ERROR_SUCCESS : GetLastError();
}

}  // namespace evictd
