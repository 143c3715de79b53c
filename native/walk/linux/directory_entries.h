#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evictd {

// The names in an open directory, in the filesystem's order, without "." and "..". Entries can be dropped and read
// again from the same position, by another descriptor of the same directory.
class DirectoryEntries {
 public:
  // Bytes read from the kernel at a time.
  explicit DirectoryEntries(size_t bytes = 32 * 1024) : bytes_(bytes) {}

  // Returns nullptr at the end, or if errno is not 0 on failure. Valid until the next call.
  const char* Next(int directory);
  // The type of the last returned name: DT_DIR and the like; DT_UNKNOWN if the filesystem does not report it.
  unsigned char type() const { return type_; }

  // Frees the memory. Before the next Next, the descriptor has to be set to `position`.
  void Drop();
  // The position after the last returned name, for lseek.
  int64_t position() const { return position_; }

 private:
  size_t bytes_;
  std::vector<char> entries_;  // as getdents64 returned them
  size_t next_ = 0;
  size_t end_ = 0;
  int64_t position_ = 0;
  unsigned char type_ = 0;
};

}  // namespace evictd
