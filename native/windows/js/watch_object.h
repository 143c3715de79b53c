#ifndef EVICTD_WINDOWS_JS_WATCH_OBJECT_H_
#define EVICTD_WINDOWS_JS_WATCH_OBJECT_H_

#include "common/js_watch.h"
#include "common/js_watch_object.h"
#include "windows/js/environment.h"

namespace evictd {

class Watch : public EnvironmentWatch<Environment> {};

}  // namespace evictd

#endif  // EVICTD_WINDOWS_JS_WATCH_OBJECT_H_
