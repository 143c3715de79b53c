#include "system/linux/file_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "cgroup.h"
#include "check.h"
#include "held_calls.h"
#include "system/linux/unique_fd.h"

namespace evictd::test {

namespace {

constexpr char kName[] = "trusted.evictd-test";

void SetAttribute(const std::string& path, const std::string& value) {
  if (setxattr(path.c_str(), kName, value.data(), value.size(), 0) != 0) Skip("no such attribute can be set here");
}

std::string TextOf(const std::vector<char>& value) { return std::string(value.begin(), value.end()); }

// A file in memory, on a filesystem that can allocate on every machine.
UniqueFd MemoryFile() {
  UniqueFd file(memfd_create("evictd-test", MFD_CLOEXEC));
  if (!file) throw SystemError(errno, "memfd_create");
  return file;
}

int64_t AllocatedBytes(int fd, int64_t* size) {
  struct stat status = {};
  CHECK(fstat(fd, &status) == 0);
  *size = status.st_size;
  return status.st_blocks * 512;
}

}  // namespace

TEST("space is reserved at the requested offset, and the file's size stays") {
  const UniqueFd file = MemoryFile();
  CHECK_EQUAL(write(file.get(), "text", 4), ssize_t{4});
  Preallocate(file.get(), 1 << 20, 256 * 1024);
  int64_t size = 0;
  CHECK(AllocatedBytes(file.get(), &size) >= 256 * 1024);
  CHECK(AllocatedBytes(file.get(), &size) < 1 << 20);
  CHECK_EQUAL(size, int64_t{4});
}

TEST("space that cannot be reserved") {
  const UniqueFd file = MemoryFile();
  const UniqueFd reading(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  CHECK_EQUAL(ErrorOf([&] { Preallocate(file.get(), 0, 0); }), EINVAL);
  CHECK_EQUAL(ErrorOf([&] { Preallocate(file.get(), -1, 1); }), EINVAL);
  CHECK_EQUAL(ErrorOf([&] { Preallocate(file.get(), INT64_MAX, 1); }), EFBIG);
  CHECK_EQUAL(ErrorOf([&] { Preallocate(reading.get(), 0, 1); }), EBADF);
  CHECK_EQUAL(ErrorOf([&] { Preallocate(-1, 0, 1); }), EBADF);
}

TEST("an interrupted reservation is repeated") {
  const UniqueFd file = MemoryFile();
  const HeldCalls interrupted(SYS_fallocate, [](int call) { return call < 3 ? EINTR : 0; });
  Preallocate(file.get(), 0, 64 * 1024);
  int64_t size = 0;
  CHECK(AllocatedBytes(file.get(), &size) >= 64 * 1024);
}

TEST("an attribute is read as it is: bytes of any value, none, and through a symbolic link") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("file");
  CHECK(WriteText(file, ""));
  std::vector<char> value(7, 'x');
  CHECK(!ReadAttribute(file, kName, &value));
  CHECK_EQUAL(symlink(file.c_str(), directory.File("link").c_str()), 0);
  for (const std::string& text : {std::string("\1\0\377", 3), std::string(), std::string(1000, 'l')}) {
    SetAttribute(file, text);
    for (const std::string& path : {file, directory.File("link")}) {
      CHECK(ReadAttribute(path, kName, &value));
      CHECK(TextOf(value) == text);
    }
  }
  CHECK(!ReadAttribute("/proc/self/status", kName, &value));
  CHECK_EQUAL(ErrorOf([&] { ReadAttribute(directory.File("none"), kName, &value); }), ENOENT);
}

TEST("an attribute is set, replaced, and refused with its errno") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("file");
  CHECK(WriteText(file, ""));
  std::vector<char> value;
  for (const std::string& text : {std::string("1"), std::string("22"), std::string()}) {
    WriteAttribute(file, kName, text);
    CHECK(ReadAttribute(file, kName, &value));
    CHECK(TextOf(value) == text);
  }
  CHECK_EQUAL(ErrorOf([&] { WriteAttribute("/proc/self/status", kName, "1"); }), ENOTSUP);
  CHECK_EQUAL(ErrorOf([&] { WriteAttribute(directory.File("none"), kName, "1"); }), ENOENT);
}

TEST("an attribute that grows, shrinks or is removed during the read is complete or missing") {
  const UniqueFd memory = MemoryFile();
  const std::string file = "/proc/self/fd/" + std::to_string(memory.get());
  const std::string shorter = "s";
  const std::string longer(1000, 'l');
  SetAttribute(file, shorter);
  // The code requests the length first, then the value.
  const HeldCalls changed(SYS_getxattr, [&](int call) {
    if (call == 1 || call == 4) SetAttribute(file, longer);  // it has grown: both are requested again
    if (call == 5) SetAttribute(file, shorter);
    if (call == 7) CHECK_EQUAL(removexattr(file.c_str(), kName), 0);
    return 0;
  });
  std::vector<char> value;
  CHECK(ReadAttribute(file, kName, &value));
  CHECK(TextOf(value) == longer);
  CHECK(ReadAttribute(file, kName, &value));
  CHECK(TextOf(value) == shorter);
  CHECK(!ReadAttribute(file, kName, &value));
}

}  // namespace evictd::test
