// A simple poller: reads the usage of a cgroup at an interval, and kills the processes of another cgroup when usage reaches
// the limit. Its victim is fixed and it starts at once, so it is faster than any poller that has to choose.
//
//   poll MILLISECONDS USAGE_FILE LIMIT PROCS_FILE   prints 'polls' and polls until it is killed
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 16];

static const char *contents(const char *file) {
  const int fd = open(file, O_RDONLY);
  const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  text[length < 0 ? 0 : length] = 0;
  return text;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const long interval_ms = strtol(argv[1], NULL, 10);
  const long long limit = strtoll(argv[3], NULL, 10);
  const struct timespec interval = {interval_ms / 1000, interval_ms % 1000 * 1000000};
  puts("polls");
  fflush(stdout);
  for (;; nanosleep(&interval, NULL)) {
    if (strtoll(contents(argv[2]), NULL, 10) < limit) continue;
    contents(argv[4]);
    char *next = text;
    for (long pid = strtol(next, &next, 10); pid > 1; pid = strtol(next, &next, 10)) kill((pid_t)pid, SIGKILL);
  }
}
