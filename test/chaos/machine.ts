import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { moment, type See } from './seen.js';

/** A virtual machine of `make vm`: only there the clock and the pool of huge pages may be changed. */
export const isMachine = process.env.EVICTD_VM_SUITE !== undefined;

const POOL = '/proc/sys/vm/nr_hugepages';
const HUGE_PAGES = 48;
const HOUR_MS = 3_600_000;

/** A hugetlbfs with pages of 2 MiB; undefined: not on this machine. `undo` gets what removes it. */
export function mountHugePages(scratch: string, undo: (() => unknown)[]): string | undefined {
  if (!isMachine || !existsSync(POOL)) return undefined;
  const before = readFileSync(POOL, 'utf8');
  undo.push(() => {
    writeFileSync(POOL, before);
  });
  writeFileSync(POOL, String(HUGE_PAGES));
  const directory = join(scratch, 'huge');
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'hugetlbfs', 'evictd-test', directory]);
  undo.push(() => execFileSync('umount', ['-l', directory]));
  return directory;
}

/** The wall clock of the machine. Two settings are hours apart, so that each reading belongs to one of them. */
export class WallClock {
  readonly #see: See;
  readonly #began = moment();
  #jumps = 0;

  constructor(see: See) {
    this.#see = see;
  }

  /** Forward and backward in turns: 2 h ahead, 4 h behind, 6 h ahead, … */
  jump(): void {
    if (!isMachine) return;
    this.#jumps++;
    this.#set((this.#jumps % 2 === 1 ? 1 : -1) * 2 * this.#jumps * HOUR_MS);
  }

  restore(): void {
    if (this.#jumps > 0) this.#set(0);
  }

  /** `aheadMs` of a clock that did not jump. */
  #set(aheadMs: number): void {
    this.#see({ kind: 'action', what: 'the clock jumps' });
    const wall = this.#began.wall + (moment().at - this.#began.at) + aheadMs;
    execFileSync('date', ['--utc', `--set=@${(wall / 1000).toFixed(3)}`], { stdio: 'ignore' });
    this.#see({ kind: 'action', what: `the clock is ${String(aheadMs / HOUR_MS)} h ahead` });
  }
}
