#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <cstring>
#include <memory>

#include "system/linux/unique_fd.h"

namespace evictd {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

// Returns nullptr and errno on failure.
inline DirectoryStream OpenDirectoryStream(int parent, const char* path) {
  UniqueFd opened(openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return nullptr;
  DirectoryStream stream(fdopendir(opened.get()));
  if (stream) static_cast<void>(opened.Release());
  return stream;
}

// "." or "..": other names may begin with a dot too.
inline bool IsDots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

}  // namespace evictd
