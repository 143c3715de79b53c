#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "watch/waker.h"

namespace evictd {

// This process as a service. StartServiceCtrlDispatcher, which returns only when the service has stopped, runs on a
// thread of its own, and holds this object for as long.
class ServiceDispatcher : public std::enable_shared_from_this<ServiceDispatcher> {
 public:
  // What the service manager wants, as bits: they coalesce. kFailed: it will never want anything, error() says why.
  enum Control : unsigned { kStart = 1, kStop = 2, kShutdown = 4, kFailed = 8 };

  ServiceDispatcher(const std::string& name, std::shared_ptr<Bell> bell);
  ServiceDispatcher(const ServiceDispatcher&) = delete;
  ServiceDispatcher& operator=(const ServiceDispatcher&) = delete;

  // Starts the thread. Throws SystemError: ERROR_SERVICE_ALREADY_RUNNING where another one's thread runs in this
  // process.
  void Start();

  // JavaScript's thread: what came since the last call.
  unsigned TakeControls() { return controls_.exchange(0); }

  // 0: it runs, or is about to.
  int error() const { return error_; }

  // SetServiceStatus. `exit_code`: the service's own, for SERVICE_STOPPED. Throws SystemError: ERROR_SERVICE_NOT_ACTIVE
  // before kStart and after SERVICE_STOPPED.
  void Report(DWORD state, DWORD wait_hint_ms, DWORD exit_code);

  // Nobody listens any more. What was not reported as stopped is now, or as soon as the service manager calls: as a
  // service whose process ended unexpectedly (ERROR_PROCESS_ABORTED).
  void Close();

 private:
  static DWORD WINAPI Run(void* held);
  static void WINAPI Main(DWORD count, wchar_t** arguments);
  static DWORD WINAPI Handle(DWORD control, DWORD type, void* event, void* dispatcher);

  void Dispatch();
  void Begin();
  void Fail(DWORD error);
  void Post(Control control);

  // With mutex_ held and a status_. Return 0 or why it was refused.
  DWORD Set(DWORD state, DWORD wait_hint_ms, DWORD exit_code);
  void Abort();
  DWORD Tell(SERVICE_STATUS* status);

  std::wstring name_;
  std::shared_ptr<Bell> bell_;
  std::atomic<unsigned> controls_{0};
  std::atomic<int> error_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;                        // guards what follows
  SERVICE_STATUS_HANDLE status_ = nullptr;  // none before kStart and after SERVICE_STOPPED
  DWORD checkpoint_ = 0;
};

}  // namespace evictd
