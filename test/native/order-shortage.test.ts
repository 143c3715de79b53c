import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compiler } from './compiler.js';
import { addonFile, cgroup2, hasMemoryV1, makeCgroup, makeDirectory, makeNumberFile, memoryV1 } from './kernel.js';

/**
 * Lets the waiter's thread have no memory for some calls of malloc, from a umask on that is otherwise unused. Another
 * umask says whether the thread waits for events: until then it prepares itself, which needs memory.
 */
const LIMITER = String.raw`
  #include <errno.h>
  #include <stddef.h>
  #include <string.h>
  #include <sys/epoll.h>
  #include <sys/prctl.h>
  #include <sys/syscall.h>
  #include <unistd.h>
  static volatile int failing, waits;
  extern void *__libc_malloc(size_t);
  static int is_waiter(void) {
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "evictd-waiter") == 0;
  }
  void *malloc(size_t n) {
    if (failing > 0 && is_waiter()) { failing--; errno = ENOMEM; return 0; }
    return __libc_malloc(n);
  }
  int epoll_wait(int epoll, struct epoll_event *events, int size, int timeout) {
    if (is_waiter()) waits = 1;
    return syscall(SYS_epoll_pwait, epoll, events, size, timeout, NULL, 8);
  }
  unsigned umask(unsigned mask) {
    if (mask == 07652) return waits;
    if (mask == 07654) { failing = 7; return 0; }
    if (mask == 07653) { write(1, failing == 0 ? "all\n" : "none\n", failing == 0 ? 4 : 5); return 0; }
    return (unsigned)syscall(SYS_umask, mask);
  }`;

test.runIf(compiler !== undefined)('an order without memory is carried out when there is some (where there is a C compiler)', async () => {
  const scratch = makeDirectory();
  const library = join(scratch, 'limit.so');
  writeFileSync(join(scratch, 'limit.c'), LIMITER);
  execFileSync(compiler ?? '', ['-O1', '-shared', '-fPIC', '-w', '-o', library, join(scratch, 'limit.c')]);
  const cgroup = makeCgroup(hasMemoryV1 ? memoryV1 : cgroup2);
  const member = spawn('sleep', ['600']);
  onTestFinished(() => void member.kill('SIGKILL'));
  writeFileSync(join(cgroup, 'cgroup.procs'), String(member.pid));
  const ended = once(member, 'exit');
  const file = join(scratch, 'order');
  writeFileSync(file, Buffer.alloc(4096));
  const [node, usage, bell] = [makeNumberFile(101), makeNumberFile(5), makeNumberFile(0)];
  const script = `
    const native = require(${JSON.stringify(addonFile)});
    const number = (path) => ({ files: [{ path, format: 'number' }], weights: [1] });
    const sampling = { ...number(${JSON.stringify(bell.path)}), limits: [1], maxRatePerSecond: 1, maxPeriodMs: 2 };
    const sampler = new native.Sampler(sampling, () => undefined);
    const order = new native.StandingOrder(${JSON.stringify(file)}, undefined, () => {
      process.umask(0o7653);
      const { candidate, processes, errno } = order.take();
      console.log(JSON.stringify({ candidate, processes, errno }));
      order.close();
      sampler.close();
    });
    const plan = {
      conditions: [{ value: number(${JSON.stringify(node.path)}), atLeast: 100 }],
      candidates: [{ cgroup: ${JSON.stringify(cgroup)}, id: ${String(statSync(cgroup, { bigint: true }).ino)}n,
        value: number(${JSON.stringify(usage.path)}), offset: 0, record: Buffer.from('record'), elsewhere: [] }],
      attributes: ['user.oomd_omit'],
      settlesNs: 1n, afterNs: 1_000_000n, unexplainedNs: 1_000_000n, slack: 0, expiresNs: 2n ** 63n,
      byFile: ${String(!hasMemoryV1)}, apart: true,
    };
    order.place(plan, 0n);
    while (process.umask(0o7652) === 0);
    process.umask(0o7654);
    setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(bell.path)}, '1'.padStart(16, '0') + '\\n'), 20);`;
  const output = execFileSync(process.execPath, ['-e', script], {
    env: { ...process.env, LD_PRELOAD: library },
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(output.trim().split('\n')).toEqual(['all', '{"candidate":0,"processes":1,"errno":0}']);
  expect((await ended)[1]).toBe('SIGKILL');
  expect(readFileSync(file).toString('latin1', 64, 70)).toBe('record');
});
