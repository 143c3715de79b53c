#include "system/linux/locked_text.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <vector>

namespace evictd {

namespace {

struct Segment {
  uintptr_t begin;
  size_t length;
};

// The memory of the program and its libraries. Another thread may be loading one that is not listed yet: at first all
// of it is one mapping that is not writable, and what is relocated in it would be lost.
int CollectObject(dl_phdr_info* object, size_t, void* collected) {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    begin = std::min<uintptr_t>(begin, object->dlpi_addr + header.p_vaddr);
    end = std::max<uintptr_t>(end, object->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  if (begin < end) static_cast<std::vector<Segment>*>(collected)->push_back({begin, end - begin});
  return 0;
}

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

// Loads them again when they are used.
void UnmapFilePages() {
  std::vector<Segment> objects;
  dl_iterate_phdr(&CollectObject, &objects);
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(fopen("/proc/self/smaps", "re"), &fclose);
  if (!maps) return;
  for (const FileMapping& mapping : MappingsOfFiles(maps.get())) {
    const auto holds = [&mapping](const Segment& object) {
      return mapping.end > object.begin && mapping.begin < object.begin + object.length;
    };
    if (std::none_of(objects.begin(), objects.end(), holds)) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
  }
}

// Gives back what was freed. Some of it stays at the end of the heap, for what is allocated next.
void TrimHeap() {
#ifdef __GLIBC__
  malloc_trim(size_t{128} * 1024);
#endif
}

// A direct system call, because the oldest glibc of the prebuilt addon has no wrapper.
int LockOnFault(const Segment& segment) {
  return static_cast<int>(syscall(SYS_mlock2, segment.begin, segment.length, MLOCK_ONFAULT));
}

}  // namespace

std::vector<FileMapping> MappingsOfFiles(FILE* smaps) {
  std::vector<FileMapping> found;
  FileMapping mapping = {};
  char access[5] = {};
  unsigned long inode = 0;
  unsigned long anonymous_kib = 0;
  unsigned long swapped_kib = 0;
  char line[512];
  // The kernel prints no number that does not fit.
  // NOLINTBEGIN(cert-err34-c)
  while (fgets(line, sizeof line, smaps) != nullptr) {
    if (sscanf(line, "Anonymous: %lu", &anonymous_kib) == 1) continue;
    if (sscanf(line, "Swap: %lu", &swapped_kib) == 1) {  // after "Anonymous:", which does not count swapped pages
      if (anonymous_kib == 0 && swapped_kib == 0 && inode != 0 && access[1] != 'w') found.push_back(mapping);
      continue;
    }
    FileMapping next = {};
    char next_access[5] = {};
    unsigned long next_inode = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &next.begin, &next.end, next_access, &next_inode) !=
        4)
      continue;
    mapping = next;
    std::copy(std::begin(next_access), std::end(next_access), std::begin(access));
    inode = next_inode;
    anonymous_kib = ULONG_MAX;
  }
  // NOLINTEND(cert-err34-c)
  return found;
}

LockedText LockText() {
  std::vector<Segment> segments;
  dl_iterate_phdr(&CollectText, &segments);
  // Small segments first (the addon, the C library): a limit may not suffice for all of Node.
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.length < b.length; });
  UnmapFilePages();
  TrimHeap();
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
