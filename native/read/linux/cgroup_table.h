#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "read/linux/reader.h"
#include "system/linux/unique_fd.h"

namespace evictd {

// Many cgroups, the same files in each. A row belongs to one directory (its inode), never to another created later
// under the same name. Its neighbours, the directories of the same cgroup in other hierarchies (v1), belong to whoever
// has their names.
//
// While fewer than `maximum_open` descriptors are kept, a row keeps its directory and its files; then only its
// directory; then nothing, and each read opens the path and compares the inode. The same happens where the process runs
// out of descriptors.
class CgroupTable {
 public:
  // As many as a mask of files has bits.
  static constexpr size_t kMaximumFiles = 32;
  static constexpr uint32_t kAllFiles = 0xffffffff;

  // `files`: paths relative to a cgroup, at most kMaximumFiles.
  CgroupTable(std::vector<FileSpec> files, size_t maximum_open);

  size_t columns() const { return columns_; }
  // Rows ever used, one more than the largest row number.
  size_t rows() const { return rows_.size(); }
  // Cgroups in the table.
  size_t size() const { return size_; }
  bool Has(size_t row) const { return row < rows_.size() && rows_[row].used; }
  // The inode of the cgroup's directory.
  uint64_t Id(size_t row) const { return rows_[row].id; }

  // Throws SystemError. The lowest unused row is taken. `neighbours[n - 1]` is the FileSpec's directory n.
  size_t Add(const std::string& cgroup, std::vector<std::string> neighbours);
  void Remove(size_t row);

  // Fills those of the columns() values that the files in the mask have (bit f: files[f]); the others stay as they are.
  // Returns 0 or the first errno of the row; ENODEV: the cgroup was removed. A neighbour's trouble is no error: its
  // values are unknown. Allocates nothing, never throws for a cgroup's trouble.
  int Read(size_t row, uint32_t files, double* values);
  // All values of a row are unknown.
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
  // Reads and parses; the values are unknown where that fails.
  int Parse(int fd, const FileSpec& spec, double* values);
  void Keep(const Row& row, size_t file, UniqueFd* opened, UniqueFd* kept);
  int Missing(const Row& row, int directory) const;
  UniqueFd OpenDirectory(const Row& row) const;
  size_t Kept(const Row& row) const;

  std::vector<FileSpec> files_;
  size_t columns_ = 0;
  size_t maximum_open_;
  size_t open_ = 0;
  size_t size_ = 0;
  std::vector<Row> rows_;
  size_t lowest_unused_ = 0;  // no row below it is unused
  std::string neighbour_;     // the path of one of a neighbour's files
  TextBuffer buffer_;
};

}  // namespace evictd
