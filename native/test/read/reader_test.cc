#include "read/linux/reader.h"

#include <fcntl.h>

#include <cerrno>
#include <cmath>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

namespace {

FileSpec NumberIn(const std::string& path) { return {path, TextFormat::kNumber, {}}; }

}  // namespace

TEST("files of several formats in one pass, each value in its place") {
  Reader reader({{"/proc/meminfo", TextFormat::kKeyed, {"MemTotal", "MemFree"}},
                 {"/proc/none", TextFormat::kNumber, {}},
                 {"/proc/loadavg", TextFormat::kLoadavg, {}}});
  double values[4];
  int32_t errors[3];
  reader.Read(values, errors);
  CHECK_EQUAL(errors[0], 0);
  CHECK_EQUAL(errors[1], ENOENT);
  CHECK_EQUAL(errors[2], 0);
  CHECK(values[0] >= values[1] && values[1] > 0);
  CHECK(std::isnan(values[2]));
  CHECK(values[3] >= 1);
}

TEST("a file larger than the buffer is read whole, one beyond 4 MiB is refused, and others go on") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("keyed");
  const auto write = [&](size_t padding) {
    CHECK(WriteText(file, "first 1\npadding " + std::string(padding, '1') + "\nlast 2\n"));
  };
  Reader reader({{file, TextFormat::kKeyed, {"first", "last"}}, {"/proc/loadavg", TextFormat::kLoadavg, {}}});
  double values[3];
  int32_t errors[2];
  for (const size_t padding : {8000, 8167, 8168, 8169, 8170, 20000, 4000000}) {
    write(padding);
    reader.Read(values, errors);
    CHECK_EQUAL(errors[0], 0);
    CHECK_EQUAL(values[0], 1);
    CHECK_EQUAL(values[1], 2);
  }
  write(4 * 1024 * 1024);
  reader.Read(values, errors);
  CHECK_EQUAL(errors[0], EFBIG);
  CHECK(std::isnan(values[0]) && std::isnan(values[1]));
  CHECK_EQUAL(errors[1], 0);
}

TEST("a file whose cgroup was removed is ENODEV once, and read again when it exists again") {
  Cgroup cgroup(Cgroup2());
  Reader reader({{cgroup.File("cgroup.events"), TextFormat::kKeyed, {"populated"}}});
  double value = 0;
  int32_t error = 0;
  reader.Read(&value, &error);
  CHECK_EQUAL(error, 0);
  cgroup.Remove();
  reader.Read(&value, &error);
  CHECK_EQUAL(error, ENODEV);
  reader.Read(&value, &error);
  CHECK_EQUAL(error, ENOENT);
  CHECK(std::isnan(value));
  const Cgroup other(Cgroup2());
  Reader fresh({NumberIn(other.File("cgroup.max.depth"))});
  fresh.Read(&value, &error);
  CHECK_EQUAL(error, 0);
  CHECK(std::isinf(value));
}

TEST("a pipe given by mistake does not block") {
  const TemporaryDirectory directory;
  CHECK_EQUAL(system(("mkfifo " + directory.File("pipe")).c_str()), 0);
  Reader reader({NumberIn(directory.File("pipe"))});
  double value = 0;
  int32_t error = 0;
  reader.Read(&value, &error);
  CHECK_EQUAL(error, ESPIPE);
}

}  // namespace evictd::test
