// memory_condition low|high set|clear: changes the kernel events behind CreateMemoryResourceNotification, which Wine
// has and never sets itself.
#include <windows.h>
// after windows.h, whose types it uses
#include <winternl.h>

#include <cstring>

extern "C" {
NTSTATUS NTAPI NtOpenEvent(PHANDLE event, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes);
NTSTATUS NTAPI NtSetEvent(HANDLE event, PLONG previous);
NTSTATUS NTAPI NtClearEvent(HANDLE event);
}

int main(int count, char** words) {
  if (count != 3) return 64;
  wchar_t low[] = L"\\KernelObjects\\LowMemoryCondition";
  wchar_t high[] = L"\\KernelObjects\\HighMemoryCondition";
  UNICODE_STRING name = {};
  RtlInitUnicodeString(&name, std::strcmp(words[1], "low") == 0 ? low : high);
  OBJECT_ATTRIBUTES attributes = {};
  attributes.Length = sizeof attributes;
  attributes.ObjectName = &name;
  HANDLE event = nullptr;
  if (NtOpenEvent(&event, EVENT_MODIFY_STATE, &attributes) < 0) return 1;
  const bool set = std::strcmp(words[2], "set") == 0;
  return (set ? NtSetEvent(event, nullptr) : NtClearEvent(event)) < 0 ? 2 : 0;
}
