#pragma once

#include "js/linux/environment.h"
#include "watch/js/environment_watch.h"
#include "watch/js/watch_object.h"

namespace evictd {

class Watch : public EnvironmentWatch<Environment> {
 protected:
  // Queues source->Arm if the watch is live.
  void ArmSoon() {
    if (live()) environment()->armer().Arm(source(), watch_id());
  }
};

}  // namespace evictd
