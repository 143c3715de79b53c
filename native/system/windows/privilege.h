#pragma once

namespace evictd {

// Enables SeDebugPrivilege in the token of this process: with it processes are opened whoever's they are. False: the
// token has no such privilege. Throws SystemError.
bool EnableDebugPrivilege();

}  // namespace evictd
