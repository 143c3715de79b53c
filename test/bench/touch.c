// A process that takes memory page by page across a limit and reports which touch crossed it, by the kernel's notice and by
// the counter.
//
//   touch CGROUP LIMIT BEYOND   a member of that cgroup. Each line of standard input is one of
//     cross    takes memory until it has seen the crossing and BEYOND bytes more, then frees it. The answer is
//              'NOTICE_FROM NOTICE_TO USAGE_FROM USAGE_TO' (monotonic ns; 0 0 without a notice)
//     ring     the lower bound of the cost of a wake: the busy main thread writes to an eventfd that a second thread waits for
//              in epoll_wait. The answer is 'FROM TO'
//
// NOTICE (cgroup v1): the process registers an eventfd for the same limit and reads it after every page. The kernel compares
// usage with all thresholds at one moment, in the page fault that fills a batch of charges, and signals all eventfds of that
// limit there. So the touch after which this eventfd is readable is the touch that signalled the others. FROM and TO are read
// before and after that touch. USAGE: the first touch after which the counter is at the limit.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kStride = 16 };
// The distance to the limit, in bytes, from which on usage is read after every page; before that, after every stride.
#define NEAR (4LL << 20)

static int usage_fd;
static int event_fd = -1;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long usage(void) {
  char text[32];
  const ssize_t length = pread(usage_fd, text, sizeof(text) - 1, 0);
  text[length < 0 ? 0 : length] = 0;
  return strtoll(text, NULL, 10);
}

static int noticed(void) {
  uint64_t count;
  return event_fd >= 0 && read(event_fd, &count, sizeof(count)) == sizeof(count);
}

static int bell_fd;
static atomic_llong rung_ns;

static void *wait_for_bell(void *unused) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  uint64_t count;
  epoll_ctl(epoll, EPOLL_CTL_ADD, bell_fd, &event);
  while (epoll_wait(epoll, &event, 1, -1) >= 0) {
    const long long now = now_ns();
    if (read(bell_fd, &count, sizeof(count)) == sizeof(count)) rung_ns = now;
  }
  return unused;
}

// As busy as it would be with taking memory.
static void ring(void) {
  const long long begun = now_ns();
  while (now_ns() - begun < 2000000) continue;
  const uint64_t one = 1;
  rung_ns = 0;
  const long long from = now_ns();
  if (write(bell_fd, &one, sizeof(one)) != sizeof(one)) exit(1);
  while (rung_ns == 0) continue;
  printf("%lld %lld\n", from, (long long)rung_ns);
}

static int open_in(const char *directory, const char *name, int flags) {
  char file[512];
  snprintf(file, sizeof(file), "%s/%s", directory, name);
  return open(file, flags | O_CLOEXEC);
}

static int register_at(const char *cgroup, long long limit) {
  const int control = open_in(cgroup, "cgroup.event_control", O_WRONLY);
  if (control < 0) return 0;  // v2: there are no thresholds
  char line[64];
  event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  const int length = snprintf(line, sizeof(line), "%d %d %lld", event_fd, usage_fd, limit);
  const int failed = write(control, line, (size_t)length) != length;
  close(control);
  return failed;
}

static void cross(char *memory, long long size, long long limit, long long beyond) {
  long long at = 0;
  for (; usage() < limit - NEAR && at < size; at += kStride * kPage) {
    for (int page = 0; page < kStride; page++) memory[at + page * kPage] = 1;
  }
  noticed();  // what it was told when the memory was given back
  long long notice_from = 0, notice_to = 0, usage_from = 0, usage_to = 0, left = beyond;
  for (; at < size && left > 0; at += kPage) {
    const long long from = now_ns();
    memory[at] = 1;
    const long long to = now_ns();
    if (notice_to == 0 && noticed()) notice_from = from, notice_to = to;
    if (usage_to == 0 && usage() >= limit) usage_from = from, usage_to = to;
    if (usage_to != 0) left -= kPage;
  }
  printf("%lld %lld %lld %lld\n", notice_from, notice_to, usage_from, usage_to);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const long long limit = strtoll(argv[2], NULL, 10), beyond = strtoll(argv[3], NULL, 10);
  const long long size = limit + beyond + NEAR;
  char line[16];
  usage_fd = open_in(argv[1], "memory.usage_in_bytes", O_RDONLY);
  if (usage_fd < 0) usage_fd = open_in(argv[1], "memory.current", O_RDONLY);
  if (usage_fd < 0 || register_at(argv[1], limit) != 0) {
    perror("touch");
    return 1;
  }
  pthread_t waiting;
  bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (pthread_create(&waiting, NULL, wait_for_bell, NULL) != 0) return 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  while (fgets(line, sizeof(line), stdin) != NULL) {
    if (strcmp(line, "ring\n") == 0) {
      ring();
      continue;
    }
    char *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, (size_t)size, MADV_NOHUGEPAGE);
    cross(memory, size, limit, beyond);
    munmap(memory, (size_t)size);
  }
  return 0;
}
