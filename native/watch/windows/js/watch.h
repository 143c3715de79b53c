#pragma once

#include "js/windows/environment.h"
#include "watch/js/environment_watch.h"
#include "watch/js/watch_object.h"

namespace evictd {

class Watch : public EnvironmentWatch<Environment> {};

}  // namespace evictd
