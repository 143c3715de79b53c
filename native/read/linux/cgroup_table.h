#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "read/linux/reader.h"
#include "system/linux/unique_fd.h"

namespace evictd {

// Many cgroups with the same files. A row belongs to one directory (its inode), never to another of the same name. Its
// neighbours, the cgroup's directories in other hierarchies (v1), are opened by name.
//
// Below `maximum_open` descriptors a row keeps its directory and files open; then only its directory; then nothing, and
// each read opens the path and compares the inode. The same happens if the process runs out of descriptors.
class CgroupTable {
 public:
  // one bit each in a mask
  static constexpr size_t kMaximumFiles = 32;
  static constexpr uint32_t kAllFiles = 0xffffffff;

  // `files`: paths relative to a cgroup, at most kMaximumFiles.
  CgroupTable(std::vector<FileSpec> files, size_t maximum_open);

  size_t columns() const { return columns_; }
  // The largest row number that was ever used, plus one.
  size_t rows() const { return rows_.size(); }
  size_t size() const { return size_; }
  bool Has(size_t row) const { return row < rows_.size() && rows_[row].used; }
  uint64_t Id(size_t row) const { return rows_[row].id; }

  // Takes the lowest unused row. `neighbours[n - 1]` is the FileSpec's directory n. Throws SystemError.
  size_t Add(const std::string& cgroup, std::vector<std::string> neighbours);
  void Remove(size_t row);

  // Reads the files in the mask (bit f: files[f]) into their part of the columns() values; the others keep theirs.
  // Returns 0 or the row's first errno; ENODEV: the cgroup was removed. Values of a neighbour that cannot be read are
  // unknown, without an error. Allocates nothing and does not throw.
  int Read(size_t row, uint32_t files, double* values);
  // Sets all values of a row to unknown.
  void Forget(double* values) const;

 private:
  struct Row {
    bool used = false;
    std::string path;
    std::vector<std::string> neighbours;
    uint64_t id = 0;
    UniqueFd directory;
    std::vector<UniqueFd> files;
  };

  int ReadFile(Row* row, size_t file, int directory, double* values);
  void ReadNeighbour(Row* row, size_t file, double* values);
  // Reads and parses; unknown values on failure.
  int Parse(int fd, const FileSpec& spec, double* values);
  void Keep(const Row& row, size_t file, UniqueFd* opened, UniqueFd* kept);
  int MissingError(const Row& row, int directory) const;
  UniqueFd OpenDirectory(const Row& row) const;
  size_t OpenFiles(const Row& row) const;

  std::vector<FileSpec> files_;
  size_t columns_ = 0;
  size_t maximum_open_;
  size_t open_ = 0;
  size_t size_ = 0;
  std::vector<Row> rows_;
  size_t lowest_unused_ = 0;  // no row below it is unused
  std::string neighbour_;     // reused memory for a path
  TextBuffer buffer_;
};

}  // namespace evictd
