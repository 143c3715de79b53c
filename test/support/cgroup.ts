import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fsPath, subdirectoriesIn } from '../../src/byte-paths.js';
import { bytesOfText } from '../../src/core/name/byte-text.js';
import type { CgroupHierarchy } from '../../src/core/workload/cgroup.js';

/** The hierarchy of the memory controller on this machine. */
export interface MemoryController {
  readonly version: 1 | 2;
  readonly mount: string;
}

/** undefined: no memory controller, or no permission to use it. */
export function memoryController(): MemoryController | undefined {
  if (existsSync('/sys/fs/cgroup/memory/cgroup.procs')) return { version: 1, mount: '/sys/fs/cgroup/memory' };
  const controllers = '/sys/fs/cgroup/cgroup.controllers';
  if (existsSync(controllers) && readFileSync(controllers, 'utf8').split(/\s+/).includes('memory'))
    return { version: 2, mount: '/sys/fs/cgroup' };
  return undefined;
}

/** Where its cgroups are; without a memory controller it stands for v2 at no place. */
export function memoryHierarchy(): CgroupHierarchy {
  const { version, mount }: MemoryController = memoryController() ?? { version: 2, mount: '' };
  return { version, controller: version === 1 ? 'memory' : '', mountPoint: mount, root: '/' };
}

export interface TestProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** The signal that ended it; null: it exited. */
  readonly ended: Promise<NodeJS.Signals | null>;
}

/** A cgroup made for one test. Everything in it and below it ends with `cleanup()`. */
export interface TestCgroup {
  /** As evictd's configuration names it: below the mount of the memory controller. */
  readonly path: string;
  readonly dir: string;
  child(name: string): TestCgroup;
  /** Starts a command in the cgroup; resolves when it is a member. `ignoring`: a signal ignored from the start. */
  spawn(command: string, args?: readonly string[], options?: { ignoring?: 'TERM' }): Promise<TestProcess>;
  limit(bytes: bigint): void;
  read(file: string): string;
  write(file: string, text: string): void;
  /** Kills its processes and removes it with all below it. May be called twice. */
  cleanup(): Promise<void>;
}

/** A new cgroup at the root of the memory hierarchy, 'evictd-test-<pid>-<random>' unless `name` says otherwise. */
export function testCgroup(name = `evictd-test-${String(process.pid)}-${randomBytes(4).toString('hex')}`): TestCgroup {
  const controller = memoryController();
  if (controller === undefined) throw new Error('no memory controller on this machine: these tests need one');
  if (controller.version === 2) enableControllers(controller.mount);
  return make(controller, `/${name}`);
}

/** A cgroup that exists, of a slice that the test has made. `cleanup` removes it too. */
export function cgroupAt(path: string): TestCgroup {
  const controller = memoryController();
  if (controller === undefined) throw new Error('no memory controller on this machine: these tests need one');
  return handleOf(controller, path);
}

function make(controller: MemoryController, path: string): TestCgroup {
  mkdirSync(fsPath(controller.mount + path));
  return handleOf(controller, path);
}

function handleOf(controller: MemoryController, path: string): TestCgroup {
  const dir = controller.mount + path;
  return {
    path,
    dir,
    child: (name) => {
      if (controller.version === 2) enableControllers(dir);
      return make(controller, `${path}/${name}`);
    },
    spawn: (command, args = [], options = {}) => spawnIn(dir, command, args, options.ignoring),
    limit: (bytes) => writeFileSync(fsPath(`${dir}/${controller.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'}`), String(bytes)),
    read: (file) => readFileSync(fsPath(`${dir}/${file}`), 'utf8'),
    write: (file, text) => writeFileSync(fsPath(`${dir}/${file}`), text),
    cleanup: () => remove(dir),
  };
}

/** Enables the controllers for children of a v2 cgroup, which then cannot have processes of its own. */
function enableControllers(dir: string): void {
  for (const controller of ['memory', 'pids']) writeFileSync(fsPath(`${dir}/cgroup.subtree_control`), `+${controller}`);
}

async function spawnIn(dir: string, command: string, args: readonly string[], ignoring: string | undefined): Promise<TestProcess> {
  const trap = ignoring === undefined ? '' : `trap '' ${ignoring}; `;
  const script = `${trap}echo $$ > "$(printf %b "$0")/cgroup.procs" && echo joined >&3 && exec "$@"`;
  // An argument of a child process is UTF-8: the name of a cgroup need not be.
  const escaped = Array.from(bytesOfText(dir), (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
  const child = spawn('/bin/sh', ['-c', script, escaped, command, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not start ${command}`);
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
  const said = child.stdio[3];
  if (!said || !('once' in said)) throw new Error('no pipe');
  // What it has said is read before the end of the pipe, also of a program that is over at once.
  const joined = await Promise.race([once(said, 'data').then(() => true), once(said, 'end').then(() => false)]);
  if (!joined) throw new Error(`${command} did not get into ${dir}`);
  return { pid, child, ended };
}

async function remove(dir: string): Promise<void> {
  if (!existsSync(fsPath(dir))) return;
  for (let left = 250; ; left--) {
    for (const cgroup of subtree(dir)) killMembers(cgroup);
    try {
      for (const cgroup of subtree(dir)) rmdirSync(fsPath(cgroup));
      return;
    } catch (error) {
      if (left === 0) throw error;
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      await pause(20); // EBUSY: a killed process is still leaving
    }
  }
}

/** Deepest first. */
function subtree(dir: string): string[] {
  return [...subdirectoriesIn(dir).flatMap((name) => subtree(posix.join(dir, name))), dir];
}

function killMembers(dir: string): void {
  for (const pid of readFileSync(fsPath(`${dir}/cgroup.procs`), 'utf8')
    .split('\n')
    .filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}
