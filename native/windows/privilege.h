#ifndef EVICTD_WINDOWS_PRIVILEGE_H_
#define EVICTD_WINDOWS_PRIVILEGE_H_

namespace evictd {

// Enables SeDebugPrivilege in the token of this process: with it processes are opened whoever's they are. False: the
// token has no such privilege. Throws SystemError.
bool EnableDebugPrivilege();

}  // namespace evictd

#endif  // EVICTD_WINDOWS_PRIVILEGE_H_
