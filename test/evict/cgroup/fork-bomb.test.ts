import { readFileSync, statSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { attempt } from '../../../src/errors.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native, type CgroupHandle } from '../../../src/native/index.js';
import { workload } from '../../core/support.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { forkBomb, limitPids, type PidsLimit } from '../../support/fork-bomb.js';
import { besideVictim, hasFreezer, hasUnified, thawBesides, type Beside } from './beside.js';

const hierarchies = readHierarchies();
const none = { unified: undefined, freezer: undefined };

let victim: TestCgroup;
let limit: PidsLimit;
let kill: KillInProgress | undefined;

beforeEach(() => {
  victim = testCgroup();
  limit = limitPids(victim, 60);
  means.clear();
});
afterEach(async () => {
  if (getPriority() < 0) setPriority(constants.priority.PRIORITY_NORMAL); // what is started next inherits it
  thawBesides();
  kill?.close();
  await victim.cleanup();
  await limit.cleanup();
});

/**
 * By which means it was held still or ended, and in which cgroup: 'freeze /sys/fs/cgroup/freezer/…'. What failed is
 * left out.
 */
const means = new Set<string>();
class Observed extends native.CgroupHandle {
  readonly #directory: string;
  constructor(directory: string, id?: bigint) {
    super(directory, id);
    this.#directory = directory;
  }
  override kill(): void {
    super.kill();
    means.add(`kill ${this.#directory}`);
  }
  override freeze(limitMs: number): boolean {
    const isFrozen = super.freeze(limitMs);
    means.add(`freeze ${this.#directory}`);
    return isFrozen;
  }
  override stop(rounds: number): ReturnType<CgroupHandle['stop']> {
    means.add(`stop ${this.#directory}`);
    return super.stop(rounds);
  }
}

const begin = (others: Partial<typeof hierarchies>) =>
  openCgroupEvictor({ ...native, CgroupHandle: Observed }, { ...hierarchies, ...others }).begin(
    workload(victim.path.slice(1), { path: victim.path, startOrder: statSync(victim.dir, { bigint: true }).ino }),
  );
const nobodyLeft = (of: KillInProgress) =>
  eventually('the last of them to end', () => {
    expect(of.kill().error).toBeUndefined();
    return of.read().processes === 0;
  });
const listed = () => readFileSync(`${victim.dir}/cgroup.procs`, 'utf8');

describe(`a fork bomb at its limit of processes (cgroup v${String(hierarchies.memory?.version)})`, () => {
  const explode = async () => {
    await victim.spawn('/bin/sh', ['-c', forkBomb(limit)]);
    await eventually('forks to be refused', () => limit.refusals() > 100);
    // As evictd has it, where it is permitted: at equal priority the bomb leaves the test a sixtieth of the processors.
    attempt(() => {
      setPriority(constants.priority.PRIORITY_HIGHEST);
    });
  };

  test('does not survive in a cgroup that only it uses', async () => {
    await explode();
    kill = begin(none);
    await nobodyLeft(kill);
    expect([listed(), limit.processes()]).toEqual(['', []]);
  });

  test.runIf(hasUnified)('does not survive in a separate cgroup of the unified hierarchy', async () => {
    const beside = besideVictim('unified', victim);
    await explode();
    beside.join();
    kill = begin({ freezer: undefined });
    await nobodyLeft(kill);
    expect([listed(), beside.processes(), limit.processes()]).toEqual(['', [], []]);
    beside.cleanup();
  });

  test.runIf(hasFreezer)('does not survive in a separate freezer cgroup, which is thawed', async () => {
    const beside = besideVictim('freezer', victim);
    await explode();
    beside.join();
    kill = begin({ unified: undefined });
    await nobodyLeft(kill);
    expect([listed(), beside.processes(), limit.processes()]).toEqual(['', [], []]);
    expect(beside.read('freezer.state')).toBe('THAWED\n');
    beside.cleanup();
  });

  test('is ended while other processes of the same limit survive, old and new', async () => {
    const bystander = testCgroup();
    try {
      const { pid } = await bystander.spawn('sleep', ['600']);
      await explode();
      kill = begin(none);
      await nobodyLeft(kill);
      expect(bystander.read('cgroup.procs').trim()).toBe(String(pid));
    } finally {
      await bystander.cleanup();
    }
  });
});

// A bomb may be ended by the first SIGKILL already: the test adds a later process.
describe('a process that is new since the first SIGKILL', () => {
  const meansFor = async (others: Partial<typeof hierarchies>, ...besides: Beside[]): Promise<readonly string[]> => {
    const join = async (): Promise<void> => {
      const { pid } = await victim.spawn('sleep', ['600']);
      for (const beside of besides) beside.add(pid);
    };
    await join();
    kill = begin(others);
    kill.kill();
    await join();
    means.clear();
    kill.kill();
    const used = [...means];
    await nobodyLeft(kill);
    for (const beside of besides) beside.cleanup();
    return used;
  };

  test('is stopped (v1), or is outside the victim that cgroup.kill has ended (v2)', async () => {
    expect(await meansFor(none)).toEqual(hierarchies.memory?.version === 1 ? [`stop ${victim.dir}`] : []);
  });

  test.runIf(hasFreezer)('is frozen in a separate freezer cgroup', async () => {
    const beside = besideVictim('freezer', victim);
    expect(await meansFor({ unified: undefined }, beside)).toEqual([`freeze ${beside.dir}`]);
  });

  test.runIf(hasUnified)('is ended by cgroup.kill in a separate cgroup of the unified hierarchy', async () => {
    const beside = besideVictim('unified', victim);
    expect(await meansFor({}, beside)).toEqual([`kill ${beside.dir}`]);
  });

  test.runIf(hasUnified && hasFreezer)('is ended by cgroup.kill also where it could be frozen', async () => {
    const besides = [besideVictim('unified', victim), besideVictim('freezer', victim)];
    expect(await meansFor({}, ...besides)).toEqual([`kill ${String(besides[0]?.dir)}`]);
  });
});
