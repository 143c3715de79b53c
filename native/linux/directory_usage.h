#ifndef EVICTD_LINUX_DIRECTORY_USAGE_H_
#define EVICTD_LINUX_DIRECTORY_USAGE_H_

#include <string>

#include "linux/background_walk.h"
#include "linux/directory_walk.h"

namespace evictd {

// What a directory takes, walked in the background.
class DirectoryUsage : public BackgroundReading<DirectoryWalk::Usage> {
 public:
  // Throws as BackgroundWalk.
  DirectoryUsage(const std::string& path, BackgroundWalks* walks)
      : BackgroundReading(
            path, [path](const auto& cancelled) { return DirectoryWalk().Run(path, cancelled); }, walks) {}
};

}  // namespace evictd

#endif  // EVICTD_LINUX_DIRECTORY_USAGE_H_
