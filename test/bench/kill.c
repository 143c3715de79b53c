// What a kill costs at the least: ends every process of a cgroup and says how many nanoseconds it took until nobody was left.
// kill signal CGROUP READINGS: SIGKILL to each of cgroup.procs, until so many readings in a row are empty. kill unified CGROUP READINGS: cgroup.kill, and reads as long.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 16];

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int read_file(const char *file) {
  const int fd = open(file, O_RDONLY);
  const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  text[length < 0 ? 0 : length] = 0;
  return length > 0;
}

int main(int argc, char **argv) {
  char file[512];
  if (argc != 4) return 2;
  const int readings = atoi(argv[3]);
  const int by_signal = strcmp(argv[1], "signal") == 0;
  const long long from = now_ns();
  if (!by_signal) {
    snprintf(file, sizeof(file), "%s/cgroup.kill", argv[2]);
    const int fd = open(file, O_WRONLY);
    if (fd < 0 || write(fd, "1", 1) != 1) return 1;
    close(fd);
  }
  snprintf(file, sizeof(file), "%s/cgroup.procs", argv[2]);
  for (int empty = 0; empty < readings;) {
    if (!read_file(file)) {
      empty++;
      continue;
    }
    empty = 0;
    char *next = text;
    for (long pid = strtol(next, &next, 10); by_signal && pid > 1; pid = strtol(next, &next, 10)) kill((pid_t)pid, SIGKILL);
  }
  printf("%lld\n", now_ns() - from);
  return 0;
}
