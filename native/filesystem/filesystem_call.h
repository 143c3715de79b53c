#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace evictd {

// What a system says of a filesystem.
struct FilesystemAnswer {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t available_bytes = 0;
  uint64_t inodes = 0;  // this and what follows: of Linux
  uint64_t inodes_free = 0;
  uint64_t type = 0;
  uint64_t device = 0;
  int error = 0;
};

// How it is asked of the one that `path` is on; each system has its own file of it. The call blocks for as long as the
// filesystem likes.
std::function<FilesystemAnswer()> FilesystemCall(const std::string& path);

}  // namespace evictd
