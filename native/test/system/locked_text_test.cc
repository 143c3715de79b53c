#include "system/linux/locked_text.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "check.h"

namespace evictd::test {

namespace {

// A mapping of /proc/PID/smaps in the order of Linux 6.18 (fs/proc/task_mmu.c, __show_smap), without lines that are not
// read.
std::string Mapping(const char* access, const char* inode, const char* anonymous, const char* swap) {
  return std::string("55fd594b5000-55fd594d9000 ") + access + " 00004000 fe:00 " + inode + "  /usr/bin/grep\n" +
         "Size:                144 kB\nRss:                 144 kB\nAnonymous:      " + anonymous +
         " kB\nLazyFree:              0 kB\nSwap:           " + swap +
         " kB\nSwapPss:        4 kB\nLocked:                0 kB\nVmFlags: rd ex mr mw me \n";
}

size_t Found(const std::string& text) {
  std::string bytes = text;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fmemopen(bytes.data(), bytes.size(), "r"), &fclose);
  return MappingsOfFiles(file.get()).size();
}

}  // namespace

TEST("pages can be read again only where none is the process's own, in memory or in swap") {
  CHECK_EQUAL(Found(Mapping("r-xp", "260368", "0", "0")), 1u);
  CHECK_EQUAL(Found(Mapping("r-xp", "260368", "0", "4")), 0u);
  CHECK_EQUAL(Found(Mapping("r-xp", "260368", "4", "0")), 0u);
  CHECK_EQUAL(Found(Mapping("r-xp", "0", "0", "0")), 0u);
  CHECK_EQUAL(Found(Mapping("rw-p", "260368", "0", "0")), 0u);
  CHECK_EQUAL(Found(Mapping("r-xp", "260368", "4", "0") + Mapping("r--p", "260368", "0", "0")), 1u);
}

TEST("a mapping is found with its addresses") {
  std::string text = Mapping("r-xp", "260368", "0", "0");
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fmemopen(text.data(), text.size(), "r"), &fclose);
  const std::vector<FileMapping> found = MappingsOfFiles(file.get());
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found[0].begin, 0x55fd594b5000u);
  CHECK_EQUAL(found[0].end, 0x55fd594d9000u);
}

}  // namespace evictd::test
