#pragma once

#include <string>

#include "walk/linux/background_walk.h"
#include "walk/linux/directory_walk.h"

namespace evictd {

// The usage of a directory, walked in the background.
class DirectoryUsage : public BackgroundReading<DirectoryWalk::Usage> {
 public:
  // Throws as BackgroundWalk.
  DirectoryUsage(const std::string& path, BackgroundWalks* walks)
      : BackgroundReading(
            path, [path](const auto& cancelled) { return DirectoryWalk().Run(path, cancelled); }, walks) {}
};

}  // namespace evictd
