#pragma once

#include <memory>
#include <string>
#include <vector>

#include "system/linux/child_program.h"

namespace evictd {

struct FileStatus {
  static constexpr size_t kContentBytes = 4096;  // the longest target of a link
  static constexpr size_t kHeadBytes = 256;      // BINPRM_BUF_SIZE: what exec reads first

  int error = 0;
  unsigned uid = 0;
  unsigned gid = 0;
  unsigned mode = 0;
  std::string content;  // the target of a symbolic link, the first bytes of a regular file
};

// Reads what lstat says of files. A child does it, because a filesystem that hangs may keep the caller for ever, even
// from SIGKILL: a process with such a thread never ends. The child shares the memory, so that nothing is copied.
class FileStatuses {
 public:
  using Result = std::vector<FileStatus>;

  // Throws SystemError (EAGAIN: ChildPrograms::kMaximum children have not ended, or no thread).
  FileStatuses(std::vector<std::string> paths, ChildPrograms* children);

  // Returns true once, when all were read.
  bool TakeDone(Result* result);

 private:
  struct State;
  static void Run(State* shared);

  std::shared_ptr<State> state_;
};

}  // namespace evictd
