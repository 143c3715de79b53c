#ifndef EVICTD_LINUX_OWN_DIRECTORY_H_
#define EVICTD_LINUX_OWN_DIRECTORY_H_

#include <cstdint>
#include <string>

#include "linux/unique_fd.h"

namespace evictd {

// Which directory it is, whatever it is called by now.
struct DirectoryIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const DirectoryIdentity& other) const { return device == other.device && inode == other.inode; }
};

// A directory that nobody but its owner and root can have put there, opened for reading with all of its path looked at:
// no part is a symbolic link (ELOOP), none above can be written by everybody or by a group but root's (EPERM), and once
// one belongs to somebody else than root, so do all below it (EPERM); systemd-tmpfiles calls the last of these an
// unsafe path transition.
// `*error`: why there is none; any of openat's, too.
UniqueFd OpenOwnDirectory(const std::string& path, int* error);

// Of an open directory. False: errno says why.
bool IdentityOf(int directory, DirectoryIdentity* identity);

// The mount that an open file lies on: by statx, before Linux 5.8 by /proc/self/fdinfo. False: that cannot be told.
bool MountOf(int file, uint64_t* mount);

}  // namespace evictd

#endif  // EVICTD_LINUX_OWN_DIRECTORY_H_
