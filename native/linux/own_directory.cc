#include "linux/own_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace evictd {

namespace {

constexpr int kStepFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr const char* kMountKey = "mnt_id:";
constexpr int kReadFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

// Of one step down. 0: nobody else can have put it there.
int Objection(const struct stat& above, const struct stat& below) {
  if (S_ISLNK(below.st_mode)) return ELOOP;
  if (!S_ISDIR(below.st_mode)) return ENOTDIR;
  // Of a directory with an access control list the bits of the group are its mask: whom they let write it does not
  // tell.
  if ((above.st_mode & (S_IWOTH | S_IWGRP)) != 0) return EPERM;
  return above.st_uid == 0 || above.st_uid == below.st_uid ? 0 : EPERM;
}

UniqueFd Failed(int* error, int why) {
  *error = why;
  return {};
}

}  // namespace

UniqueFd OpenOwnDirectory(const std::string& path, int* error) {
  *error = 0;
  UniqueFd directory(open("/", kStepFlags));
  struct stat above = {};
  if (!directory || fstat(directory.get(), &above) != 0) return Failed(error, errno);
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") return Failed(error, EINVAL);
    UniqueFd next(openat(directory.get(), name.c_str(), kStepFlags));
    struct stat below = {};
    if (!next || fstat(next.get(), &below) != 0) return Failed(error, errno);
    if (const int objection = Objection(above, below); objection != 0) return Failed(error, objection);
    directory = std::move(next);
    above = below;
  }
  UniqueFd readable(openat(directory.get(), ".", kReadFlags));
  return readable ? std::move(readable) : Failed(error, errno);
}

bool IdentityOf(int directory, DirectoryIdentity* identity) {
  struct stat status = {};
  if (fstat(directory, &status) != 0) return false;
  *identity = {status.st_dev, status.st_ino};
  return true;
}

bool MountOf(int file, uint64_t* mount) {
  struct statx status = {};
  if (statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) == 0 &&
      (status.stx_mask & STATX_MNT_ID) != 0) {
    *mount = status.stx_mnt_id;
    return true;
  }
  const std::string path = "/proc/self/fdinfo/" + std::to_string(file);
  const UniqueFd info(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[512] = {};
  if (!info || read(info.get(), text, sizeof(text) - 1) <= 0) return false;
  const char* const line = strstr(text, kMountKey);
  if (line == nullptr) return false;
  const char* const number = line + strlen(kMountKey);
  char* end = nullptr;
  *mount = strtoull(number, &end, 10);
  return end != number;
}

}  // namespace evictd
