#include "read/linux/cgroup_table.h"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <memory>
#include <thread>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

namespace {

std::vector<FileSpec> Files() {
  return {{"cgroup.events", TextFormat::kKeyed, {"populated", "frozen"}},
          {"cgroup.max.depth", TextFormat::kNumber, {}}};
}

}  // namespace

TEST("a row is read on kept descriptors, on its directory alone, and on none") {
  const Cgroup cgroup(Cgroup2());
  for (const size_t bound : {100, 1, 0}) {
    CgroupTable table(Files(), bound);
    const size_t row = table.Add(cgroup.path(), {});
    double values[3];
    for (int pass = 0; pass < 3; pass++) {
      CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), 0);
      CHECK_EQUAL(values[0], 0);
      CHECK_EQUAL(values[1], 0);
      CHECK(std::isinf(values[2]));
    }
  }
}

TEST("a cgroup that is removed, or created again under its name, is ENODEV and unknown") {
  for (const size_t bound : {100, 1, 0}) {
    Cgroup cgroup(Cgroup2());
    CgroupTable table(Files(), bound);
    const size_t row = table.Add(cgroup.path(), {});
    double values[3];
    CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), 0);
    cgroup.Replace();
    CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), ENODEV);
    for (const double value : values) CHECK(std::isnan(value));
    cgroup.Remove();
    CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), ENODEV);
    table.Remove(row);
    CHECK(!table.Has(row));
  }
}

TEST("the lowest free row is taken") {
  const Cgroup cgroup(Cgroup2());
  CgroupTable table(Files(), 100);
  for (size_t row = 0; row < 3; row++) CHECK_EQUAL(table.Add(cgroup.path(), {}), row);
  table.Remove(1);
  CHECK_EQUAL(table.Add(cgroup.path(), {}), size_t{1});
  CHECK_EQUAL(table.rows(), size_t{3});
  CHECK_EQUAL(table.size(), size_t{3});
}

TEST("without free descriptors a row is added with unknown values, and read when there are some") {
  const Cgroup cgroup(Cgroup2());
  CgroupTable table(Files(), 100);
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const size_t row = table.Add(cgroup.path(), {});
  double values[3];
  CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), EMFILE);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(std::isnan(values[0]));
  CHECK_EQUAL(table.Read(row, CgroupTable::kAllFiles, values), 0);
}

TEST("cgroups come and go while they are read: good values, or ENODEV") {
  Cgroup2();
  std::vector<std::unique_ptr<Cgroup>> cgroups;
  for (int i = 0; i < 8; i++) cgroups.push_back(std::make_unique<Cgroup>(Cgroup2()));
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    for (int round = 0; round < 100; round++) {
      for (const auto& cgroup : cgroups) cgroup->Replace();
    }
    stop = true;
  });
  CgroupTable table(Files(), 12);
  while (!stop) {
    std::vector<size_t> rows;
    for (const auto& cgroup : cgroups) {
      size_t row = 0;
      const int error = ErrorOf([&] { row = table.Add(cgroup->path(), {}); });
      if (error == 0) rows.push_back(row);
      CHECK(error == 0 || error == ENOENT || error == ENODEV);
    }
    double values[3];
    for (int pass = 0; pass < 3; pass++) {
      for (const size_t row : rows) {
        const int error = table.Read(row, CgroupTable::kAllFiles, values);
        CHECK(error == 0 || error == ENODEV);
        // A cgroup may vanish between two of its files.
        CHECK(values[0] == 0 || (error != 0 && std::isnan(values[0])));
        CHECK(std::isinf(values[2]) || (error != 0 && std::isnan(values[2])));
      }
    }
    for (const size_t row : rows) table.Remove(row);
  }
  churn.join();
  CHECK_EQUAL(table.size(), size_t{0});
}

}  // namespace evictd::test
