#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// What Node's fs lacks. All throw SystemError.

// fallocate(FALLOC_FL_KEEP_SIZE): reserves space without changing the file's size.
void Preallocate(int fd, int64_t offset, int64_t length);

// An extended attribute, through symbolic links. Returns false if the file or filesystem has none of that name.
bool ReadAttribute(const std::string& path, const std::string& name, std::vector<char>* value);

// Sets one, through symbolic links, whether or not it exists.
void WriteAttribute(const std::string& path, const std::string& name, const std::string& value);

struct Peer {
  int pid = 0;
  unsigned uid = 0;
  unsigned gid = 0;
};

// SO_PEERCRED: the process that connected to a Unix socket, as it was then.
Peer PeerOf(int fd);

}  // namespace evictd
