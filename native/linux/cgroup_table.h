#ifndef EVICTD_LINUX_CGROUP_TABLE_H_
#define EVICTD_LINUX_CGROUP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "linux/reader.h"
#include "linux/unique_fd.h"

namespace evictd {

// Many cgroups, the same files in each. A row belongs to one directory (its inode), never to another created later
// under the same name.
//
// While fewer than `maximum_open` descriptors are kept, a row keeps its directory and its files; then only its
// directory; then nothing, and each read opens the path and compares the inode. The same happens where the process runs
// out of descriptors.
class CgroupTable {
 public:
  // `files`: paths relative to a cgroup.
  CgroupTable(std::vector<FileSpec> files, size_t maximum_open);

  size_t columns() const { return columns_; }
  // Rows ever used, one more than the largest row number.
  size_t rows() const { return rows_.size(); }
  // Cgroups in the table.
  size_t size() const { return size_; }
  bool Has(size_t row) const { return row < rows_.size() && rows_[row].used; }
  // The inode of the cgroup's directory.
  uint64_t Id(size_t row) const { return rows_[row].id; }

  // Throws SystemError. The lowest unused row is taken.
  size_t Add(const std::string& cgroup);
  void Remove(size_t row);

  // Fills columns() values. Returns 0 or the first errno of the row; ENODEV: the cgroup was removed. Never throws for a
  // cgroup's trouble.
  int Read(size_t row, double* values);

 private:
  struct Row {
    bool used = false;
    std::string path;
    uint64_t id = 0;
    UniqueFd directory;
    std::vector<UniqueFd> files;
  };

  int ReadFile(Row* row, size_t file, int directory, double* values);
  int Missing(const Row& row, int directory) const;
  UniqueFd OpenDirectory(const Row& row) const;
  size_t Kept(const Row& row) const;

  std::vector<FileSpec> files_;
  size_t columns_ = 0;
  size_t maximum_open_;
  size_t open_ = 0;
  size_t size_ = 0;
  std::vector<Row> rows_;
  TextBuffer buffer_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_CGROUP_TABLE_H_
