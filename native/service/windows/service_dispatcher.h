#pragma once

#include <windows.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "watch/waker.h"

namespace evictd {

// This process as a Windows service. StartServiceCtrlDispatcher blocks until the service has stopped, so it runs on its
// own thread, which holds this object.
class ServiceDispatcher : public std::enable_shared_from_this<ServiceDispatcher> {
 public:
  // The service manager's requests as bits, which coalesce. kFailed: none will ever come, see error().
  enum Control : unsigned { kStart = 1, kStop = 2, kShutdown = 4, kFailed = 8 };

  ServiceDispatcher(const std::string& name, std::shared_ptr<Waker> waker);
  ServiceDispatcher(const ServiceDispatcher&) = delete;
  ServiceDispatcher& operator=(const ServiceDispatcher&) = delete;

  // Starts the thread. Throws SystemError: ERROR_SERVICE_ALREADY_RUNNING if a dispatcher runs in this process.
  void Start();

  // JavaScript's thread: the controls since the last call.
  unsigned TakeControls() { return controls_.exchange(0); }

  // 0: running, or about to.
  int error() const { return error_; }

  // SetServiceStatus. `exit_code`: service-specific, for SERVICE_STOPPED. Throws SystemError: ERROR_SERVICE_NOT_ACTIVE
  // before kStart and after SERVICE_STOPPED.
  void Report(DWORD state, DWORD wait_hint_ms, DWORD exit_code);

  // No further controls. If it was not reported as stopped, reports that now or at the service manager's next call,
  // with ERROR_PROCESS_ABORTED as after an unexpected end.
  void Close();

 private:
  static void WINAPI Main(DWORD count, wchar_t** arguments);
  static DWORD WINAPI Handle(DWORD control, DWORD type, void* event, void* dispatcher);

  void Dispatch();
  void Begin();
  void Fail(DWORD error);
  void Post(Control control);

  // Call with mutex_ held and a status_. Return 0 or the error.
  DWORD Set(DWORD state, DWORD wait_hint_ms, DWORD exit_code);
  void Abort();
  DWORD SetStatus(SERVICE_STATUS* status);

  std::wstring name_;
  std::shared_ptr<Waker> waker_;
  std::atomic<unsigned> controls_{0};
  std::atomic<int> error_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;                        // guards the rest
  SERVICE_STATUS_HANDLE status_ = nullptr;  // null before kStart and after SERVICE_STOPPED
  DWORD checkpoint_ = 0;
};

}  // namespace evictd
