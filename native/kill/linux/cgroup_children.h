#pragma once

#include <functional>

namespace evictd {

// Calls `visit` with the open directory of each child cgroup of `directory`, '.hidden' included. Goes on after
// failures. Returns 0 or the first errno, also of `visit`. A child that vanished is no failure.
int VisitChildren(int directory, const std::function<int(int child)>& visit);

// Of a cgroup, or a file in it.
bool HasVanished(int error);

}  // namespace evictd
