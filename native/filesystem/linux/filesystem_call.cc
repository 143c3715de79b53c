#include "filesystem/filesystem_call.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "system/linux/unique_fd.h"

namespace evictd {

std::function<FilesystemAnswer()> FilesystemCall(const std::string& path) {
  return [path] {
    FilesystemAnswer answer;
    // One descriptor for both calls: the mount may change in between. O_PATH needs no permission on the directory
    // itself.
    const UniqueFd directory(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct statfs filesystem = {};
    struct stat status = {};
    if (!directory || fstatfs(directory.get(), &filesystem) != 0 || fstat(directory.get(), &status) != 0) {
      answer.error = errno;
      return answer;
    }
    const uint64_t block = static_cast<uint64_t>(filesystem.f_frsize != 0 ? filesystem.f_frsize : filesystem.f_bsize);
    answer.total_bytes = filesystem.f_blocks * block;
    answer.free_bytes = filesystem.f_bfree * block;
    answer.available_bytes = filesystem.f_bavail * block;
    answer.inodes = filesystem.f_files;
    answer.inodes_free = filesystem.f_ffree;
    answer.type = static_cast<uint32_t>(filesystem.f_type);
    answer.device = status.st_dev;
    return answer;
  };
}

}  // namespace evictd
