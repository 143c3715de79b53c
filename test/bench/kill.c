// The lower bound of the cost of a kill: ends all processes of a cgroup and prints the nanoseconds until it was empty.
//
//   kill signal CGROUP READINGS    sends SIGKILL to each process of cgroup.procs until READINGS readings in a row are empty
//   kill unified CGROUP READINGS   writes cgroup.kill, then reads cgroup.procs until READINGS readings in a row are empty
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
