#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evictd {

// What the service manager says of one service. The contract has the fields' meaning.
struct ServiceEntry {
  std::string name;
  std::string display_name;
  uint32_t state = 0;  // SERVICE_RUNNING, …
  uint32_t pid = 0;
  bool own_process = false;
  bool accepts_stop = false;
};

// The services of this machine that are processes. Throws SystemError.
std::vector<ServiceEntry> ListServices();

// Throws SystemError. Returns when the service was told and has answered, or after half a second in which nobody has:
// then it is told as soon as that is possible.
void StopService(const std::string& name);

}  // namespace evictd
