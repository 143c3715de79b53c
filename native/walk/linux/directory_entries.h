#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evictd {

// The names in an open directory, in the order of the filesystem, without "." and "..". What has been read can be let
// go and read again from the same place, by another descriptor of the same directory.
class DirectoryEntries {
 public:
  // nullptr: there are no more; or errno is not 0 and says why they cannot be read. Valid until the next call.
  const char* Next(int directory);

  // Lets the memory go. Before Next, the descriptor has to be brought to `position`.
  void Drop();
  // Behind the last name that Next gave, for lseek.
  int64_t position() const { return position_; }

 private:
  std::vector<char> entries_;  // as getdents64 gave them
  size_t next_ = 0;
  size_t end_ = 0;
  int64_t position_ = 0;
};

}  // namespace evictd
