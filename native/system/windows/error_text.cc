#include "system/error_text.h"

#include <windows.h>

#include <cctype>

namespace evictd {

namespace {

struct NamedError {
  DWORD error;
  const char* name;
};

#define NAMED(name) \
  { ERROR_##name, "ERROR_" #name }

// What calls on processes, jobs, services, volumes and the memory manager return.
constexpr NamedError kNamedErrors[] = {{WAIT_TIMEOUT, "WAIT_TIMEOUT"},
                                       {RPC_S_OUT_OF_RESOURCES, "RPC_S_OUT_OF_RESOURCES"},
                                       NAMED(INVALID_FUNCTION),
                                       NAMED(FILE_NOT_FOUND),
                                       NAMED(PATH_NOT_FOUND),
                                       NAMED(TOO_MANY_OPEN_FILES),
                                       NAMED(ACCESS_DENIED),
                                       NAMED(INVALID_HANDLE),
                                       NAMED(NOT_ENOUGH_MEMORY),
                                       NAMED(OUTOFMEMORY),
                                       NAMED(INVALID_DRIVE),
                                       NAMED(NO_MORE_FILES),
                                       NAMED(NOT_READY),
                                       NAMED(CRC),
                                       NAMED(BAD_LENGTH),
                                       NAMED(GEN_FAILURE),
                                       NAMED(SHARING_VIOLATION),
                                       NAMED(LOCK_VIOLATION),
                                       NAMED(NOT_SUPPORTED),
                                       NAMED(REM_NOT_LIST),
                                       NAMED(BAD_NETPATH),
                                       NAMED(NETWORK_BUSY),
                                       NAMED(DEV_NOT_EXIST),
                                       NAMED(UNEXP_NET_ERR),
                                       NAMED(NETNAME_DELETED),
                                       NAMED(NETWORK_ACCESS_DENIED),
                                       NAMED(BAD_NET_NAME),
                                       NAMED(INVALID_PARAMETER),
                                       NAMED(BROKEN_PIPE),
                                       NAMED(CALL_NOT_IMPLEMENTED),
                                       NAMED(SEM_TIMEOUT),
                                       NAMED(INSUFFICIENT_BUFFER),
                                       NAMED(INVALID_NAME),
                                       NAMED(PROC_NOT_FOUND),
                                       NAMED(BAD_PATHNAME),
                                       NAMED(BUSY),
                                       NAMED(ALREADY_EXISTS),
                                       NAMED(FILENAME_EXCED_RANGE),
                                       NAMED(MORE_DATA),
                                       NAMED(NO_MORE_ITEMS),
                                       NAMED(DIRECTORY),
                                       NAMED(PARTIAL_COPY),
                                       NAMED(INVALID_ADDRESS),
                                       NAMED(OPERATION_ABORTED),
                                       NAMED(NOACCESS),
                                       NAMED(UNRECOGNIZED_VOLUME),
                                       NAMED(DEPENDENT_SERVICES_RUNNING),
                                       NAMED(INVALID_SERVICE_CONTROL),
                                       NAMED(SERVICE_REQUEST_TIMEOUT),
                                       NAMED(SERVICE_ALREADY_RUNNING),
                                       NAMED(SERVICE_DISABLED),
                                       NAMED(SERVICE_DOES_NOT_EXIST),
                                       NAMED(SERVICE_CANNOT_ACCEPT_CTRL),
                                       NAMED(SERVICE_NOT_ACTIVE),
                                       NAMED(FAILED_SERVICE_CONTROLLER_CONNECT),
                                       NAMED(SERVICE_SPECIFIC_ERROR),
                                       NAMED(SERVICE_MARKED_FOR_DELETE),
                                       NAMED(DATABASE_DOES_NOT_EXIST),
                                       NAMED(SHUTDOWN_IN_PROGRESS),
                                       NAMED(IO_DEVICE),
                                       NAMED(POSSIBLE_DEADLOCK),
                                       NAMED(BAD_DEVICE),
                                       NAMED(NO_NET_OR_BAD_PATH),
                                       NAMED(CANCELLED),
                                       NAMED(NETWORK_UNREACHABLE),
                                       NAMED(HOST_UNREACHABLE),
                                       NAMED(CONNECTION_ABORTED),
                                       NAMED(LOGON_FAILURE),
                                       NAMED(NO_SUCH_PRIVILEGE),
                                       NAMED(PRIVILEGE_NOT_HELD),
                                       NAMED(NO_SYSTEM_RESOURCES),
                                       NAMED(WORKING_SET_QUOTA),
                                       NAMED(COMMITMENT_LIMIT),
                                       NAMED(TIMEOUT),
                                       NAMED(NOT_ENOUGH_QUOTA)};

constexpr DWORD kEnglish = MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US);

}  // namespace

std::string ErrorName(int error) {
  for (const NamedError& known : kNamedErrors) {
    if (known.error == static_cast<DWORD>(error)) return known.name;
  }
  return "ERROR_" + std::to_string(static_cast<DWORD>(error));
}

// The text is in English on every Windows. A Windows without English texts has only the number.
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
