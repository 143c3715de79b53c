#pragma once

#include <functional>

namespace evictd {

// Calls `visit` with the open directory of each cgroup right below `directory`, whatever its name ('.hidden' is one
// like any other). Goes on after failures. Returns 0 or the first errno, that of `visit` (which returns one likewise)
// included; what vanished meanwhile is no failure.
int VisitChildren(int directory, const std::function<int(int child)>& visit);

// Of a cgroup, or a file in it.
bool HasVanished(int error);

}  // namespace evictd
