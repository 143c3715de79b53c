#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {
struct ServiceEntry {
  std::string name;
  uint32_t state = 0;  // SERVICE_RUNNING, …
  uint32_t pid = 0;
  bool own_process = false;
  bool accepts_stop = false;
};

// The services of this machine that are processes. Throws SystemError.
std::vector<ServiceEntry> ListServices();

// Returns when the service has answered, or after half a second; the request then stays. Throws SystemError.
void StopService(const std::string& name);

}  // namespace evictd
