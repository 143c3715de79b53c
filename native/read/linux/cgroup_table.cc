#include "read/linux/cgroup_table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "system/linux/shortage.h"
#include "system/system_error.h"

namespace evictd {

CgroupTable::CgroupTable(std::vector<FileSpec> files, size_t maximum_open)
    : files_(std::move(files)), maximum_open_(maximum_open) {
  for (const FileSpec& spec : files_) columns_ += spec.fields();
}

size_t CgroupTable::Add(const std::string& cgroup, std::vector<std::string> neighbours) {
  Row added;
  added.used = true;
  added.path = cgroup;
  added.neighbours = std::move(neighbours);
  added.files.resize(files_.size());
  struct stat status = {};
  UniqueFd directory(open(cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory) {
    if (fstat(directory.get(), &status) != 0) throw SystemError(errno, "fstat", cgroup);
  } else {
    if (!IsOutOfDescriptors(errno)) throw SystemError(errno, "open", cgroup);
    if (stat(cgroup.c_str(), &status) != 0) throw SystemError(errno, "stat", cgroup);
    if (!S_ISDIR(status.st_mode)) throw SystemError(ENOTDIR, "stat", cgroup);
  }
  added.id = status.st_ino;
  size_t row = lowest_unused_;
  while (row < rows_.size() && rows_[row].used) row++;
  if (directory && open_ < maximum_open_) {
    added.directory = std::move(directory);
    open_++;
  }
  if (row == rows_.size()) {
    rows_.push_back(std::move(added));
  } else {
    rows_[row] = std::move(added);
  }
  lowest_unused_ = row + 1;
  size_++;
  return row;
}

void CgroupTable::Remove(size_t row) {
  open_ -= OpenFiles(rows_[row]);
  size_--;
  rows_[row] = Row();
  lowest_unused_ = std::min(lowest_unused_, row);
}

size_t CgroupTable::OpenFiles(const Row& row) const {
  size_t kept = row.directory ? 1 : 0;
  for (const UniqueFd& file : row.files) kept += file ? 1 : 0;
  return kept;
}

UniqueFd CgroupTable::OpenDirectory(const Row& row) const {
  UniqueFd directory(open(row.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  if (!directory) {
    if (errno == ENOENT) errno = ENODEV;
  } else if (fstat(directory.get(), &status) != 0 || status.st_ino != row.id) {
    directory.Reset();
    errno = ENODEV;  // another cgroup has the name
  }
  return directory;
}

int CgroupTable::Read(size_t row_number, uint32_t files, double* values) {
  Row& row = rows_[row_number];
  UniqueFd opened;
  int error = 0;
  if (!row.directory) {
    opened = OpenDirectory(row);
    if (!opened) error = errno;
  }
  const int directory = row.directory ? row.directory.get() : opened.get();
  int first_error = error;
  for (size_t file = 0; file < files_.size(); values += files_[file++].fields()) {
    if ((files >> file & 1u) == 0) continue;
    if (directory < 0 || first_error == ENODEV) {
      ForgetValues(files_[file], values);
    } else if (files_[file].directory != 0) {
      ReadNeighbour(&row, file, values);
    } else {
      error = ReadFile(&row, file, directory, values);
      // A removed cgroup replaces other errors.
      if (first_error == 0 || error == ENODEV) first_error = error;
    }
  }
  return first_error;
}

void CgroupTable::Forget(double* values) const {
  for (const FileSpec& spec : files_) {
    ForgetValues(spec, values);
    values += spec.fields();
  }
}

int CgroupTable::Parse(int fd, const FileSpec& spec, double* values) {
  std::string_view text;
  const int error = spec.format == TextFormat::kOccupied ? buffer_.ReadBeginning(fd, &text) : buffer_.Read(fd, &text);
  if (error == 0) return ParseKernelText(spec, text, values);
  ForgetValues(spec, values);
  return error;
}

void CgroupTable::Keep(const Row& row, size_t file, UniqueFd* opened, UniqueFd* kept) {
  if (!row.directory || open_ >= maximum_open_ || !files_[file].keepable()) return;
  *kept = std::move(*opened);
  open_++;
}

int CgroupTable::ReadFile(Row* row, size_t file, int directory, double* values) {
  const FileSpec& spec = files_[file];
  UniqueFd& kept = row->files[file];
  if (kept) {
    const int error = Parse(kept.get(), spec, values);
    if (error != ENODEV) return error;
    // The file is gone: the cgroup was removed, or the controller disabled (it may return).
    kept.Reset();
    open_--;
  }
  UniqueFd opened(OpenForReading(directory, spec.path.c_str()));
  if (!opened) {
    const int error = errno;
    ForgetValues(spec, values);
    return error == ENOENT ? MissingError(*row, directory) : error;
  }
  const int error = Parse(opened.get(), spec, values);
  if (error == 0 || error == ENODATA) Keep(*row, file, &opened, &kept);
  return error;
}

void CgroupTable::ReadNeighbour(Row* row, size_t file, double* values) {
  const FileSpec& spec = files_[file];
  UniqueFd& kept = row->files[file];
  if (kept) {
    if (Parse(kept.get(), spec, values) != ENODEV) return;
    kept.Reset();
    open_--;
  }
  ForgetValues(spec, values);
  if (spec.directory > row->neighbours.size()) return;
  neighbour_.assign(row->neighbours[spec.directory - 1]).append(1, '/').append(spec.path);
  UniqueFd opened(OpenForReading(AT_FDCWD, neighbour_.c_str()));
  if (!opened) return;
  if (Parse(opened.get(), spec, values) == 0) Keep(*row, file, &opened, &kept);
}

// Returns ENODEV if the cgroup was removed, else ENOENT: the cgroup has no such file.
int CgroupTable::MissingError(const Row& row, int directory) const {
  if (faccessat(directory, "cgroup.procs", F_OK, 0) == 0) return ENOENT;
  struct stat status = {};
  return stat(row.path.c_str(), &status) == 0 && status.st_ino == row.id ? ENOENT : ENODEV;
}

}  // namespace evictd
