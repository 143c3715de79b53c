#ifndef EVICTD_LINUX_JS_WATCH_OBJECT_H_
#define EVICTD_LINUX_JS_WATCH_OBJECT_H_

#include "common/js_watch.h"
#include "common/js_watch_object.h"
#include "linux/js/environment.h"

namespace evictd {

class Watch : public EnvironmentWatch<Environment> {
 protected:
  // The armer calls source->Arm; nothing happens where the watch is not live.
  void ArmSoon() {
    if (live()) environment()->armer().Arm(source(), watch_id());
  }
};

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_WATCH_OBJECT_H_
