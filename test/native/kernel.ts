import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SLOWNESS } from '../support/slowness.js';

/** The addon under test, for child processes and workers, which have no TypeScript. */
export const addonFile = resolve(`dist/prebuilds/${process.platform}-${process.arch}/evictd.node`);

/** make arm64: qemu-user keeps signals for itself, and has not every system call (process_mrelease). */
export const isEmulated = process.env.EVICTD_TEST_NODE !== undefined;

export const memoryV1 = '/sys/fs/cgroup/memory';
export const hasMemoryV1 = existsSync(`${memoryV1}/cgroup.event_control`);

/** The cgroup2 mount, with or without a memory controller. */
export const cgroup2 = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((mount) => existsSync(`${mount}/cgroup.controllers`)) ?? '';
export const hasCgroup2 = cgroup2 !== '';
export const hasMemoryV2 = hasCgroup2 && readFileSync(`${cgroup2}/cgroup.controllers`, 'utf8').split(/\s+/).includes('memory');
/** Without it PSI windows have to be multiples of 2 s. */
export const hasCapSysResource =
  (BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`) & (1n << 24n)) !== 0n;

const cleanups: (() => void | Promise<void>)[] = [];

/** Runs after the test, passed or not; the last registered first. */
export function after(cleanup: () => void | Promise<void>): void {
  cleanups.push(cleanup);
}

afterEach(async () => {
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
});

/** Closed after the test: a watch that stays open keeps the process of the test runner alive. */
export function closing<T extends { close(): void }>(owner: T): T {
  after(() => {
    owner.close();
  });
  return owner;
}

/** A new cgroup (or directory) below `parent`; its processes are killed and all of it is removed after the test. */
export function makeCgroup(parent: string, name = `evictd-test-${String(process.pid)}-${randomBytes(4).toString('hex')}`): string {
  const cgroup = join(parent, name);
  mkdirSync(cgroup);
  after(() => removeCgroup(cgroup));
  return cgroup;
}

/** Not by the addon: it is what is being tested. */
export async function removeCgroup(cgroup: string): Promise<void> {
  const deadline = Date.now() + 10_000 * SLOWNESS;
  while (existsSync(cgroup)) {
    await pause(5);
    for (const directory of subtree(cgroup)) {
      for (const pid of members(directory)) quietly(() => process.kill(pid, 'SIGKILL'));
      quietly(() => rmdirSync(directory)); // EBUSY while the last of the killed has not left
    }
    if (Date.now() > deadline) throw new Error(`${cgroup} cannot be removed`);
  }
}

/** The deepest first. */
function subtree(directory: string): string[] {
  const below: string[] = [];
  quietly(() => {
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) below.push(...subtree(join(directory, entry.name)));
  });
  return [...below, directory];
}

export function members(cgroup: string): number[] {
  let text = '';
  quietly(() => (text = readFileSync(`${cgroup}/cgroup.procs`, 'utf8')));
  return text.split('\n').filter(Boolean).map(Number);
}

function quietly(attempt: () => unknown): void {
  try {
    attempt();
  } catch {
    // it may be gone already
  }
}

export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/**
 * A file that reads as one number, for samplers. Rewritten in place and always of one length: a writer that truncates
 * first would show an empty file in between, which no kernel file ever is.
 */
export interface NumberFile {
  readonly path: string;
  readonly show: (value: number) => void;
}

export function makeNumberFile(value: number): NumberFile {
  const path = join(makeDirectory(), 'number');
  writeFileSync(path, '');
  const descriptor = openSync(path, 'r+');
  after(() => {
    closeSync(descriptor);
  });
  const show = (shown: number) => {
    writeSync(descriptor, `${String(shown).padStart(16, '0')}\n`, 0);
  };
  show(value);
  return { path, show };
}

/** Starts a shell script as a member of the cgroup, ended after the test. Resolves when it is a member. */
export async function startIn(cgroup: string, script: string): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', `echo $$ > "${cgroup}/cgroup.procs" && echo joined && ${script}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  after(() => void child.kill('SIGKILL'));
  const [chunk] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
  if (!Buffer.isBuffer(chunk)) throw new Error(`no process could be started in ${cgroup}`);
  return child;
}

/** A process in the cgroup that charges memory on request, and frees all of it when it ends. */
export interface Hog {
  /** Holds so many MiB more; resolves when they are charged. */
  take(mebibytes: number): Promise<void>;
  end(): void;
}

export async function startHog(cgroup: string): Promise<Hog> {
  // Filled, because only touched pages are charged.
  const script = `
    const held = [];
    process.stdin.on('data', (text) => {
      held.push(Buffer.alloc(Number(text) << 20, 1));
      console.log('holding');
    });`;
  const child = await startIn(cgroup, `exec '${process.execPath}' -e "$(cat <<'END'\n${script}\nEND\n)"`);
  const take = async (mebibytes: number) => {
    child.stdin?.write(`${String(mebibytes)}\n`);
    if (child.stdout) await once(child.stdout, 'data');
  };
  await take(0); // it has started: what it charges from here on is what it is asked to hold
  return { take, end: () => void child.kill('SIGKILL') };
}

/** Runs a script in a Node of its own: `native` is the addon, `show(file, value)` what a NumberFile does. */
export async function runNode(script: string, timeoutMs = 20_000): Promise<{ status: number | string; output: string }> {
  return new Promise((settle) => {
    const prelude = `
      const native = require(${JSON.stringify(addonFile)});
      const fs = require('node:fs');
      BigInt.prototype.toJSON = () => undefined; // times are left out of what is printed
      const show = (file, value) => {
        const descriptor = fs.openSync(file, 'r+');
        fs.writeSync(descriptor, String(value).padStart(16, '0') + '\\n', 0);
        fs.closeSync(descriptor);
      };
`;
    execFile(
      process.execPath,
      ['--expose-gc', '-e', prelude + script],
      { timeout: timeoutMs * SLOWNESS, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        settle({ status: error ? (error.signal ?? error.code ?? 'failed') : 0, output: (stdout + stderr).trim() });
      },
    );
  });
}

/** Waits until it is so; fails after `timeoutMs`, which is for a usual machine. */
export async function until(what: string, condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  await eventually(what, condition, { ms: timeoutMs });
}

/**
 * The part of one processor that this process uses while it waits: near 1 if a thread spins, whatever else the machine
 * does.
 */
export async function processorShare(ms: number): Promise<number> {
  const [started, before] = [process.hrtime.bigint(), process.cpuUsage()];
  await pause(ms);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / Number(process.hrtime.bigint() - started);
}

/** How often this thread has waited for anything. */
export const sleeps = (): number =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1]);
export const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
export const threads = (): number => readdirSync('/proc/self/task').length;

/** How many of this process's threads bear a name. */
export function threadsNamed(name: string): number {
  return readdirSync('/proc/self/task').filter((tid) => {
    try {
      return readFileSync(`/proc/self/task/${tid}/comm`, 'utf8') === `${name}\n`;
    } catch {
      return false; // it has ended meanwhile
    }
  }).length;
}

/** What was thrown, for its fields. */
export function thrownBy(attempt: () => unknown): NodeJS.ErrnoException {
  try {
    attempt();
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  throw new Error('nothing was thrown');
}

export { pause };
