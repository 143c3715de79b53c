#include "system/windows/privilege.h"

#include <windows.h>

#include "system/system_error.h"
#include "system/windows/unique_handle.h"

namespace evictd {

bool EnableDebugPrivilege() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &opened))
    throw SystemError(static_cast<int>(GetLastError()), "OpenProcessToken");
  const UniqueHandle token(opened);
  TOKEN_PRIVILEGES wanted = {};
  wanted.PrivilegeCount = 1;
  wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
  if (!LookupPrivilegeValueW(nullptr, L"SeDebugPrivilege", &wanted.Privileges[0].Luid))
    throw SystemError(static_cast<int>(GetLastError()), "LookupPrivilegeValueW");
  const bool done = AdjustTokenPrivileges(token.get(), FALSE, &wanted, 0, nullptr, nullptr) != 0;
  // Success covers only what the token has; ERROR_NOT_ALL_ASSIGNED reports the rest.
  const DWORD error = GetLastError();
  if (done && error == ERROR_NOT_ALL_ASSIGNED) return false;
  if (!done || error != ERROR_SUCCESS) throw SystemError(static_cast<int>(error), "AdjustTokenPrivileges");
  return true;
}

}  // namespace evictd
