#pragma once

namespace evictd {

// Enables SeDebugPrivilege in this process's token, which opens processes of any owner. Returns false if the token
// lacks it. Throws SystemError.
bool EnableDebugPrivilege();

}  // namespace evictd
