#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// What Node's fs does not have. All throw SystemError.

// fallocate(FALLOC_FL_KEEP_SIZE): the space is the file's, its size stays.
void Preallocate(int fd, int64_t offset, int64_t length);

// An extended attribute, through symbolic links as getxattr(2). False: it has none of that name, or the filesystem has
// none at all.
bool ReadAttribute(const std::string& path, const std::string& name, std::vector<char>* value);

}  // namespace evictd
