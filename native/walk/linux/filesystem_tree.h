#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "walk/linux/directory_walk.h"

namespace evictd {

// The largest directories of a filesystem, down to some levels below its root, each with all below it. Bounded in time,
// in entries and in what it keeps.
class FilesystemTree : private DirectoryWalk {
 public:
  struct Limits {
    // Levels below the root that are told; what lies deeper counts for those above it.
    size_t depth = 0;
    // Of what the filesystem has in use: what has less than one such part both of the bytes and of the inodes is not
    // told.
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
    // The root of the filesystem first: the directory highest above the path that is on its device.
    std::vector<Directory> directories;
    // What could not be read and is in no sum.
    uint64_t errors = 0;
    int first_error = 0;
    // False: given up at a limit, or cancelled, or a directory was moved meanwhile. What was not reached is in no sum.
    bool complete = false;
    // st_dev; 0: the path cannot be opened.
    uint64_t device = 0;
  };

  // More are not kept, whatever `parts` is: those that were left first are.
  static constexpr size_t kMostDirectories = 4096;

  // `path`: any on the filesystem.
  FilesystemTree(std::string path, Limits limits) : path_(std::move(path)), limits_(limits) {}

  Result Run(const std::atomic<bool>& cancelled);

 private:
  struct Above {
    size_t path_length;  // of `current_`, without it
    uint64_t bytes;      // counted before it
    uint64_t inodes;
  };

  void Entered(const char* name, uint64_t own_bytes, const Usage& so_far) override;
  void Left(const Usage& so_far) override;
  bool IsEnough(const Usage& so_far) override;

  const std::string path_;
  const Limits limits_;
  std::chrono::steady_clock::time_point until_;
  uint64_t looked_at_ = 0;
  uint64_t least_bytes_ = 0;
  uint64_t least_inodes_ = 0;
  std::string current_;
  std::vector<Above> above_;  // of the upper `depth` levels
  size_t deeper_ = 0;
  std::vector<Directory> found_;
};

}  // namespace evictd
