import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { hasSystemd, TestUnits } from '../support/systemd.js';
import { moment, type See } from './seen.js';
import { attempt, isV1, LEAK, type Leak } from './workload.js';

/** Units run only in a machine with systemd and cgroup v2. */
export const hasUnits = hasSystemd && !isV1;
export const SLICE = 'evictdtest.slice';
/** It keeps the controllers of the slice enabled, and is critical. */
export const ANCHOR = 'evictd-test-anchor.service';
const MAX_UNITS = 3;
const NO_USER = 65534;

/**
 * What an unprivileged user can do in a scope of their own: trees, the name of a container, names that are no UTF-8, a
 * process in each corner. Then it leaks.
 */
const HOSTILE = `
  my ($rate, $cap, $deep, $wide) = @ARGV;
  $SIG{TERM} = 'IGNORE';
  $SIG{CHLD} = 'IGNORE';
  my ($at) = map { /^0::(.*)/ ? "/sys/fs/cgroup$1" : () } do { open my $own, '<', '/proc/self/cgroup' or die; <$own> };
  my @corners = map { "$at/$_" } 'docker-' . 'a' x 64 . '.scope', "odd\\xff", 'self', map { "w$_" } 1 .. $wide;
  mkdir $_ for @corners;
  my $deepest = $at;
  mkdir($deepest .= '/d') for 1 .. $deep;
  for my $corner (@corners[0 .. 2], $deepest) {
    next if fork;
    open my $procs, '>', "$corner/cgroup.procs" or exit;
    syswrite $procs, $$;
    sleep while 1;
  }
  my @held;
  for (1 .. $cap) { push @held, 'x' x (1 << 20); select undef, undef, undef, 1 / $rate }
  sleep while 1;`;

/** Units of systemd in the node. */
export class ChaosUnits {
  readonly #see: See;
  /** Sees what the kernel has killed. */
  readonly #look: () => void;
  readonly #files = new TestUnits();
  readonly #running: string[] = [];
  readonly #stopped = new Set<string>();
  #count = 0;

  /** The slice is the node. */
  constructor(limits: Readonly<Record<string, string>>, see: See, look: () => void) {
    this.#see = see;
    this.#look = look;
    this.#files.writeAll({
      [SLICE]: { Slice: { ...limits, MemorySwapMax: '0' } },
      [ANCHOR]: { Service: { ExecStart: '/bin/sleep infinity', Slice: SLICE } },
    });
    this.#files.start(ANCHOR);
  }

  /** A service that leaks again after each end. */
  async restarting({ mibPerSecond, upToMib }: Leak): Promise<void> {
    const name = await this.#next('service');
    const always = ['Restart=always', 'RestartSec=500ms', 'StartLimitIntervalSec=0'].map((setting) => `--property=${setting}`);
    const leak = ['/usr/bin/perl', '-e', LEAK, String(mibPerSecond), String(upToMib), '', ''];
    await run('systemd-run', '--quiet', '--collect', `--unit=${name}`, `--slice=${SLICE}`, ...always, ...leak);
  }

  /** A scope that its user has made hostile. Its processes end with it. */
  async scope({ mibPerSecond, upToMib, deep = 0, wide = 0 }: Leak): Promise<void> {
    const name = await this.#next('scope');
    const dir = `/sys/fs/cgroup/${SLICE}/${name}`;
    const before = moment();
    const give = `chown -R ${String(NO_USER)} ${dir} && exec setpriv --reuid=${String(NO_USER)} --clear-groups "$@"`;
    const perl = ['perl', '-e', HOSTILE, ...[mibPerSecond, upToMib, deep, wide].map(String)];
    const scope = ['--quiet', '--collect', '--scope', `--unit=${name}`, `--slice=${SLICE}`, '--property=Delegate=yes'];
    const child = spawn('systemd-run', [...scope, 'sh', '-c', give, 'sh', ...perl], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    const over = once(child, 'exit') as Promise<[number | null, string | null]>;
    const inode = await eventually(`${name} runs`, () => child.exitCode !== null || attempt(() => isIn(pid, name) && inodeOf(dir)), {
      ms: 60_000,
    });
    if (typeof inode !== 'string') return;
    this.#see({ kind: 'workload', workload: inode, name, protected: false }, before);
    this.#see({ kind: 'process', workload: inode, pid }, before);
    void over.then(([, signal]) => {
      this.#look();
      this.#see({ kind: 'ended', workload: inode, pid, signal, sent: this.#stopped.has(name) });
    });
  }

  async stopAll(): Promise<void> {
    while (this.#running[0] !== undefined) await this.#stop(this.#running[0]);
  }

  async close(): Promise<void> {
    await this.stopAll();
    this.#files.remove();
  }

  async #next(suffix: string): Promise<string> {
    while (this.#running.length >= MAX_UNITS) await this.#stop(this.#running[0] ?? '');
    const name = `evictd-test-chaos-${String(++this.#count)}.${suffix}`;
    this.#running.push(name);
    return name;
  }

  async #stop(name: string): Promise<void> {
    this.#stopped.add(name);
    this.#running.splice(this.#running.indexOf(name), 1);
    await run('systemctl', 'kill', '--signal=SIGKILL', name);
    await run('systemctl', 'stop', name);
  }
}

const inodeOf = (dir: string): string => String(statSync(dir, { bigint: true }).ino);
const isIn = (pid: number, unit: string): boolean => readFileSync(`/proc/${String(pid)}/cgroup`, 'utf8').includes(`/${unit}`);

/** A unit may have ended, and what ends it fails then. */
async function run(program: string, ...args: readonly string[]): Promise<void> {
  await once(spawn(program, args, { stdio: 'ignore' }), 'exit');
}
