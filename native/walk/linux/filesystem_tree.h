#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "walk/linux/directory_walk.h"

namespace evictd {

// The largest directories of a filesystem, down to some levels below its root, each with all below it. Limited in time,
// entries and results.
class FilesystemTree : private DirectoryWalk {
 public:
  struct Limits {
    // Reported levels below the root; deeper directories count for their ancestors.
    size_t depth = 0;
    // A directory is reported if it has at least one such part of the used bytes or inodes.
    uint64_t parts = 1;
    std::chrono::milliseconds time{0};
    uint64_t entries = 0;
  };
  struct Directory {
    std::string path;
    uint64_t bytes = 0;
    uint64_t inodes = 0;
  };
  struct Result {
    // First the root of the filesystem: the highest ancestor of the path on its device.
    std::vector<Directory> directories;
    // What could not be read and is in no sum.
    uint64_t errors = 0;
    int first_error = 0;
    // False: stopped at a limit, cancelled, or a directory was moved meanwhile.
    bool complete = false;
    // st_dev; 0: the path cannot be opened.
    uint64_t device = 0;
  };

  // Keeps the first this many, whatever `parts` is.
  static constexpr size_t kMostDirectories = 4096;
  FilesystemTree(std::string path, Limits limits) : path_(std::move(path)), limits_(limits) {}

  Result Run(const std::atomic<bool>& cancelled);

 private:
  struct Ancestor {
    size_t path_length;  // of `current_` without it
    uint64_t bytes;      // counted before it
    uint64_t inodes;
  };

  void Entered(const char* name, uint64_t own_bytes, const Usage& so_far) override;
  void Left(const Usage& so_far) override;
  bool ShouldStop(const Usage& so_far) override;

  const std::string path_;
  const Limits limits_;
  std::chrono::steady_clock::time_point until_;
  uint64_t visited_ = 0;
  uint64_t least_bytes_ = 0;
  uint64_t least_inodes_ = 0;
  std::string current_;
  std::vector<Ancestor> ancestors_;  // of the upper `depth` levels
  size_t deeper_ = 0;
  std::vector<Directory> found_;
};

}  // namespace evictd
