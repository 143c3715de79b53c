#include "system/linux/file_statuses.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace evictd {

struct FileStatuses::State {
  State(std::vector<std::string> of, std::shared_ptr<Waker> to_notify)
      : paths(std::move(of)), statuses(paths.size()), waker(std::move(to_notify)) {
    for (FileStatus& status : statuses) {
      status.error = EIO;  // until it is read
      status.content.resize(FileStatus::kContentBytes);
    }
  }

  const std::vector<std::string> paths;
  Result statuses;
  const std::shared_ptr<Waker> waker;
  std::atomic<bool> done{false};
};

namespace {

struct Look {
  const std::vector<std::string>* paths;
  FileStatuses::Result* statuses;
};

// Returns the number of bytes, or -1.
ssize_t ReadContent(const char* path, const struct stat& found, char* content) {
  if (S_ISLNK(found.st_mode)) return readlink(path, content, FileStatus::kContentBytes);
  if (!S_ISREG(found.st_mode)) return 0;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return fd < 0 ? -1 : read(fd, content, FileStatus::kHeadBytes);  // the descriptor ends with the child
}

// Runs in the child, in this process's memory: system calls only, no allocation.
int ReadAll(void* argument) {
  const Look& look = *static_cast<Look*>(argument);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(0, ~0U, 0);  // a child that stays would keep sockets and locks; Linux 5.9
  for (size_t index = 0; index < look.paths->size(); index++) {
    const char* const path = (*look.paths)[index].c_str();
    FileStatus& status = (*look.statuses)[index];
    struct stat found;
    ssize_t length = lstat(path, &found);
    if (length == 0) length = ReadContent(path, found, status.content.data());
    status.error = length < 0 ? errno : 0;
    if (status.error != 0) continue;
    status.uid = found.st_uid;
    status.gid = found.st_gid;
    status.mode = found.st_mode;
    status.content.resize(static_cast<size_t>(length));  // shorter: no allocation
  }
  _exit(0);
}

}  // namespace

FileStatuses::FileStatuses(std::vector<std::string> paths, ChildPrograms* children)
    : state_(std::make_shared<State>(std::move(paths), children->waker())) {
  children->Start("lstat", state_, [state = state_] { Run(state.get()); });
}

bool FileStatuses::TakeDone(Result* result) {
  if (!state_->done.exchange(false)) return false;
  *result = std::move(state_->statuses);
  return true;
}

void FileStatuses::Run(State* shared) {
  Look look = {&shared->paths, &shared->statuses};
  const pid_t child = StartSharing(ReadAll, &look);
  const int error = child < 0 ? errno : 0;
  if (error == 0) waitpid(child, nullptr, 0);
  for (FileStatus& status : shared->statuses)
    if (error != 0) status.error = error;
  shared->done = true;
  NotifyUntilHeard(shared->waker.get());
}

}  // namespace evictd
