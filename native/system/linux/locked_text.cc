#include "system/linux/locked_text.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

namespace evictd {

namespace {

struct Segment {
  uintptr_t begin;
  size_t length;
};

int CollectText(dl_phdr_info* object, size_t, void* collected) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || (header.p_flags & PF_W) != 0) continue;
    // p_filesz: the memory beyond it has no file.
    const uintptr_t begin = (object->dlpi_addr + header.p_vaddr) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + header.p_vaddr + header.p_filesz + page - 1) & ~(page - 1);
    static_cast<std::vector<Segment>*>(collected)->push_back({begin, end - begin});
  }
  return 0;
}

// Unmaps pages that can be read again from their file: those of mappings that are not writable and have no page of
// their own. Relocated data has such pages, and so has the code of a Node that has moved it into huge pages.
void UnmapFilePages() {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(fopen("/proc/self/smaps", "re"), &fclose);
  if (!maps) return;
  struct {
    uintptr_t begin;
    uintptr_t end;
    char access[5];
    unsigned long inode;
  } mapping = {};
  unsigned long own_kib = 0;
  char line[512];
  // The kernel prints no number that does not fit, and addresses as numbers.
  // NOLINTBEGIN(cert-err34-c,performance-no-int-to-ptr)
  while (fgets(line, sizeof line, maps.get()) != nullptr) {
    if (sscanf(line, "Anonymous: %lu", &own_kib) == 1) {
      if (own_kib != 0 || mapping.inode == 0 || mapping.access[1] == 'w') continue;
      madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
    } else if (auto next = mapping; sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &next.begin, &next.end,
                                           next.access, &next.inode) == 4) {
      mapping = next;
    }
  }
  // NOLINTEND(cert-err34-c,performance-no-int-to-ptr)
}

// A direct system call, because the oldest glibc of the prebuilt addon has no wrapper.
int LockOnFault(const Segment& segment) {
  return static_cast<int>(syscall(SYS_mlock2, segment.begin, segment.length, MLOCK_ONFAULT));
}

}  // namespace

LockedText LockText() {
  std::vector<Segment> segments;
  dl_iterate_phdr(&CollectText, &segments);
  // Small segments first (the addon, the C library): a limit may not suffice for all of Node.
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.length < b.length; });
  UnmapFilePages();
  LockedText result;
  for (const Segment& segment : segments) {
    if (LockOnFault(segment) == 0) {
      result.bytes += segment.length;
    } else if (result.error == 0) {
      result.error = errno;
    }
  }
  return result;
}

}  // namespace evictd
