// Another call than the one under test reads the token, and a token without the privilege is made by removing it, so it
// runs in its own process. Exit code: the line of the failed check.
#include "system/windows/privilege.h"

#include <windows.h>

#include <cstdint>
#include <vector>

#define HOLDS(what) \
  if (!(what)) return __LINE__

namespace {

HANDLE Token() {
  HANDLE token = nullptr;
  OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &token);
  return token;
}

LUID Debug() {
  LUID luid = {};
  LookupPrivilegeValueW(nullptr, L"SeDebugPrivilege", &luid);
  return luid;
}

bool IsEnabled() {
  std::vector<uint64_t> room(512);
  DWORD length = 0;
  if (!GetTokenInformation(Token(), TokenPrivileges, room.data(), static_cast<DWORD>(room.size() * sizeof room[0]),
                           &length))
    return false;
  const auto* const held = reinterpret_cast<const TOKEN_PRIVILEGES*>(room.data());
  for (DWORD i = 0; i < held->PrivilegeCount; i++) {
    const LUID_AND_ATTRIBUTES& one = held->Privileges[i];
    if (one.Luid.LowPart == Debug().LowPart && one.Luid.HighPart == Debug().HighPart)
      return (one.Attributes & SE_PRIVILEGE_ENABLED) != 0;
  }
  return false;
}

void Set(DWORD attributes) {
  TOKEN_PRIVILEGES wanted = {};
  wanted.PrivilegeCount = 1;
  wanted.Privileges[0] = {Debug(), attributes};
  AdjustTokenPrivileges(Token(), FALSE, &wanted, 0, nullptr, nullptr);
}

}  // namespace

int main() {
  Set(0);
  HOLDS(!IsEnabled());
  HOLDS(evictd::EnableDebugPrivilege());
  HOLDS(IsEnabled());
  HOLDS(evictd::EnableDebugPrivilege());  // it may be enabled already
  HOLDS(IsEnabled());

  Set(SE_PRIVILEGE_REMOVED);
  HOLDS(!evictd::EnableDebugPrivilege());
  HOLDS(!IsEnabled());
  return 0;
}
