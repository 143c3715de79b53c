#include "walk/linux/directory_entries.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "system/linux/directory_stream.h"

namespace evictd {

namespace {

// The kernel's linux_dirent64; no header has it.
struct Entry {
  uint64_t inode;
  int64_t position;
  uint16_t length;
  uint8_t type;
  char name[];
};

}  // namespace

const char* DirectoryEntries::Next(int directory) {
  for (;;) {
    if (next_ >= end_) {
      entries_.resize(bytes_);
      const long length = syscall(SYS_getdents64, directory, entries_.data(), entries_.size());
      if (length < 0) return nullptr;
      errno = 0;
      if (length == 0) return nullptr;
      next_ = 0;
      end_ = static_cast<size_t>(length);
    }
    const Entry* const entry = reinterpret_cast<const Entry*>(entries_.data() + next_);
    next_ += entry->length;
    position_ = entry->position;
    type_ = entry->type;
    if (!IsDots(entry->name)) return entry->name;
  }
}

void DirectoryEntries::Drop() {
  entries_ = std::vector<char>();
  next_ = end_ = 0;
}

}  // namespace evictd
