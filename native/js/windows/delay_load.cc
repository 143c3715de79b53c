#include <windows.h>
// After it, whose types it uses.
#include <delayimp.h>

#include <cstring>

// Node-API is imported from "node.exe", which the host need not be called: whatever program has loaded the addon is
// meant. node-gyp and cmake-js bring the same for Microsoft's compiler, which this is not for.

namespace {

FARPROC WINAPI OnDelayLoad(unsigned event, PDelayLoadInfo info) {
  if (event != dliNotePreLoadLibrary || std::strcmp(info->szDll, "node.exe") != 0) return nullptr;
  return reinterpret_cast<FARPROC>(GetModuleHandleW(nullptr));
}

}  // namespace

extern "C" {
PfnDliHook __pfnDliNotifyHook2 = OnDelayLoad;
}
