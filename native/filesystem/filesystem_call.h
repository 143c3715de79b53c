#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace evictd {

// What the system reports about a filesystem.
struct FilesystemAnswer {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t available_bytes = 0;
  uint64_t inodes = 0;  // this and what follows: Linux only
  uint64_t inodes_free = 0;
  uint64_t type = 0;
  uint64_t device = 0;
  int error = 0;
};

// Returns the call that reads the filesystem of `path`. The call may block for ever. Each system implements it.
std::function<FilesystemAnswer()> FilesystemCall(const std::string& path);

}  // namespace evictd
