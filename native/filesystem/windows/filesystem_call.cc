#include "filesystem/filesystem_call.h"

#include <windows.h>

#include "system/windows/wide_text.h"

namespace evictd {

std::function<FilesystemAnswer()> FilesystemCall(const std::string& path) {
  return [path = ToWide(path)] {
    // A drive without a medium returns an error instead of opening a dialog.
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, nullptr);
    FilesystemAnswer answer;
    ULARGE_INTEGER available = {};
    ULARGE_INTEGER total = {};
    ULARGE_INTEGER free = {};
    if (!GetDiskFreeSpaceExW(path.c_str(), &available, &total, &free)) {
      answer.error = static_cast<int>(GetLastError());
      return answer;
    }
    answer.total_bytes = total.QuadPart;
    answer.free_bytes = free.QuadPart;
    answer.available_bytes = available.QuadPart;
    return answer;
  };
}

}  // namespace evictd
