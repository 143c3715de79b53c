#include "system/error_text.h"

#include <windows.h>

#include <cctype>

namespace evictd {

namespace {

struct NamedError {
  DWORD error;
  const char* name;
};

#define EVICTD_NAMED(error) \
  { error, #error }

// What calls on processes, jobs, services, volumes and the memory manager return.
constexpr NamedError kNamedErrors[] = {EVICTD_NAMED(ERROR_INVALID_FUNCTION),
                                       EVICTD_NAMED(ERROR_FILE_NOT_FOUND),
                                       EVICTD_NAMED(ERROR_PATH_NOT_FOUND),
                                       EVICTD_NAMED(ERROR_TOO_MANY_OPEN_FILES),
                                       EVICTD_NAMED(ERROR_ACCESS_DENIED),
                                       EVICTD_NAMED(ERROR_INVALID_HANDLE),
                                       EVICTD_NAMED(ERROR_NOT_ENOUGH_MEMORY),
                                       EVICTD_NAMED(ERROR_OUTOFMEMORY),
                                       EVICTD_NAMED(ERROR_INVALID_DRIVE),
                                       EVICTD_NAMED(ERROR_NO_MORE_FILES),
                                       EVICTD_NAMED(ERROR_NOT_READY),
                                       EVICTD_NAMED(ERROR_CRC),
                                       EVICTD_NAMED(ERROR_BAD_LENGTH),
                                       EVICTD_NAMED(ERROR_GEN_FAILURE),
                                       EVICTD_NAMED(ERROR_SHARING_VIOLATION),
                                       EVICTD_NAMED(ERROR_LOCK_VIOLATION),
                                       EVICTD_NAMED(ERROR_NOT_SUPPORTED),
                                       EVICTD_NAMED(ERROR_REM_NOT_LIST),
                                       EVICTD_NAMED(ERROR_BAD_NETPATH),
                                       EVICTD_NAMED(ERROR_NETWORK_BUSY),
                                       EVICTD_NAMED(ERROR_DEV_NOT_EXIST),
                                       EVICTD_NAMED(ERROR_UNEXP_NET_ERR),
                                       EVICTD_NAMED(ERROR_NETNAME_DELETED),
                                       EVICTD_NAMED(ERROR_NETWORK_ACCESS_DENIED),
                                       EVICTD_NAMED(ERROR_BAD_NET_NAME),
                                       EVICTD_NAMED(ERROR_INVALID_PARAMETER),
                                       EVICTD_NAMED(ERROR_BROKEN_PIPE),
                                       EVICTD_NAMED(ERROR_CALL_NOT_IMPLEMENTED),
                                       EVICTD_NAMED(ERROR_SEM_TIMEOUT),
                                       EVICTD_NAMED(ERROR_INSUFFICIENT_BUFFER),
                                       EVICTD_NAMED(ERROR_INVALID_NAME),
                                       EVICTD_NAMED(ERROR_PROC_NOT_FOUND),
                                       EVICTD_NAMED(ERROR_BAD_PATHNAME),
                                       EVICTD_NAMED(ERROR_BUSY),
                                       EVICTD_NAMED(ERROR_ALREADY_EXISTS),
                                       EVICTD_NAMED(ERROR_FILENAME_EXCED_RANGE),
                                       EVICTD_NAMED(ERROR_MORE_DATA),
                                       EVICTD_NAMED(WAIT_TIMEOUT),
                                       EVICTD_NAMED(ERROR_NO_MORE_ITEMS),
                                       EVICTD_NAMED(ERROR_DIRECTORY),
                                       EVICTD_NAMED(ERROR_PARTIAL_COPY),
                                       EVICTD_NAMED(ERROR_INVALID_ADDRESS),
                                       EVICTD_NAMED(ERROR_OPERATION_ABORTED),
                                       EVICTD_NAMED(ERROR_NOACCESS),
                                       EVICTD_NAMED(ERROR_UNRECOGNIZED_VOLUME),
                                       EVICTD_NAMED(ERROR_DEPENDENT_SERVICES_RUNNING),
                                       EVICTD_NAMED(ERROR_INVALID_SERVICE_CONTROL),
                                       EVICTD_NAMED(ERROR_SERVICE_REQUEST_TIMEOUT),
                                       EVICTD_NAMED(ERROR_SERVICE_ALREADY_RUNNING),
                                       EVICTD_NAMED(ERROR_SERVICE_DISABLED),
                                       EVICTD_NAMED(ERROR_SERVICE_DOES_NOT_EXIST),
                                       EVICTD_NAMED(ERROR_SERVICE_CANNOT_ACCEPT_CTRL),
                                       EVICTD_NAMED(ERROR_SERVICE_NOT_ACTIVE),
                                       EVICTD_NAMED(ERROR_FAILED_SERVICE_CONTROLLER_CONNECT),
                                       EVICTD_NAMED(ERROR_SERVICE_SPECIFIC_ERROR),
                                       EVICTD_NAMED(ERROR_SERVICE_MARKED_FOR_DELETE),
                                       EVICTD_NAMED(ERROR_DATABASE_DOES_NOT_EXIST),
                                       EVICTD_NAMED(ERROR_SHUTDOWN_IN_PROGRESS),
                                       EVICTD_NAMED(ERROR_IO_DEVICE),
                                       EVICTD_NAMED(ERROR_POSSIBLE_DEADLOCK),
                                       EVICTD_NAMED(ERROR_BAD_DEVICE),
                                       EVICTD_NAMED(ERROR_NO_NET_OR_BAD_PATH),
                                       EVICTD_NAMED(ERROR_CANCELLED),
                                       EVICTD_NAMED(ERROR_NETWORK_UNREACHABLE),
                                       EVICTD_NAMED(ERROR_HOST_UNREACHABLE),
                                       EVICTD_NAMED(ERROR_CONNECTION_ABORTED),
                                       EVICTD_NAMED(ERROR_LOGON_FAILURE),
                                       EVICTD_NAMED(ERROR_NO_SUCH_PRIVILEGE),
                                       EVICTD_NAMED(ERROR_PRIVILEGE_NOT_HELD),
                                       EVICTD_NAMED(ERROR_NO_SYSTEM_RESOURCES),
                                       EVICTD_NAMED(ERROR_WORKING_SET_QUOTA),
                                       EVICTD_NAMED(ERROR_COMMITMENT_LIMIT),
                                       EVICTD_NAMED(ERROR_TIMEOUT),
                                       EVICTD_NAMED(RPC_S_OUT_OF_RESOURCES),
                                       EVICTD_NAMED(ERROR_NOT_ENOUGH_QUOTA)};

constexpr DWORD kEnglish = MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US);

}  // namespace

std::string ErrorName(int error) {
  for (const NamedError& known : kNamedErrors) {
    if (known.error == static_cast<DWORD>(error)) return known.name;
  }
  return "ERROR_" + std::to_string(static_cast<DWORD>(error));
}

// In English on every Windows. A Windows without English texts has only the number.
std::string ErrorText(int error) {
  char buffer[512] = "";
  const DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                      static_cast<DWORD>(error), kEnglish, buffer, sizeof buffer, nullptr);
  std::string text(buffer, length);
  while (!text.empty() && (text.back() == '.' || std::isspace(static_cast<unsigned char>(text.back())) != 0)) {
    text.pop_back();
  }
  if (text.empty()) return "error " + std::to_string(static_cast<DWORD>(error));
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

int OutOfMemory() { return ERROR_NOT_ENOUGH_MEMORY; }

}  // namespace evictd
