#include <windows.h>
// after windows.h, whose types it uses
#include <delayimp.h>

#include <cstring>

// Node-API is imported from "node.exe"; this hook resolves it from the running program, whatever its name. node-gyp and
// cmake-js have the same hook for Microsoft's compiler; this one is for MinGW.

namespace {

FARPROC WINAPI OnDelayLoad(unsigned event, PDelayLoadInfo info) {
  if (event != dliNotePreLoadLibrary || std::strcmp(info->szDll, "node.exe") != 0) return nullptr;
  return reinterpret_cast<FARPROC>(GetModuleHandleW(nullptr));
}

}  // namespace

extern "C" {
PfnDliHook __pfnDliNotifyHook2 = OnDelayLoad;
}
