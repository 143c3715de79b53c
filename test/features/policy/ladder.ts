import { afterEach, beforeEach, onTestFinished } from 'vitest';
import type { PolicyEffect, PolicyTarget } from '../../../src/core/policy/policy-action.js';
import { ownMemoryCgroup, readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { readBootId } from '../../../src/host/linux/process/own-process.js';
import { LadderActions } from '../../../src/features/policy/ladder-actions.js';
import { RestraintFile } from '../../../src/features/policy/restraint/restraint-file.js';
import { Restraints } from '../../../src/features/policy/restraint/restraints.js';
import type { ProgramRunner } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { CollectedLog, freshFile, machineWorkload } from '../../support/oom-score-adj.js';
import { besideVictim, hasFreezer, hasUnified, thawBesides, type Beside } from '../../evict/cgroup/beside.js';

export const hierarchies = readHierarchies();
export const isV2 = hierarchies.memory?.version === 2;

/** How a workload is frozen here: in its own cgroup (v2), or in one of another hierarchy. */
export const freezers = [
  ...(isV2 ? (['own'] as const) : []),
  ...(hasUnified ? (['unified'] as const) : []),
  ...(hasFreezer ? (['freezer'] as const) : []),
];

type Named = 'kind' | 'dryRun' | 'policy' | 'scope' | 'condition' | 'values' | 'readings';
type Unnamed<E> = E extends PolicyEffect ? Omit<E, Named> : never;
type Action = Unnamed<PolicyEffect>;

export interface Ladder {
  readonly restraints: Restraints;
  readonly log: CollectedLog;
  readonly file: string;
  /** What became of an action. */
  readonly act: (
    action: Action,
    policy?: string,
  ) => Promise<{ readonly result: string; readonly freedBytes?: bigint; readonly error?: string }>;
}

export interface LadderSetting {
  readonly file?: string;
  /** That evictd's. */
  readonly lock?: string;
  readonly runner?: Pick<ProgramRunner, 'run'>;
  readonly own?: string;
}

/** The actions of a running evictd; another one with the same file is the one that follows it. */
export function ladder({ file = freshFile(), lock = '', runner, own }: LadderSetting = {}): Ladder {
  const log = new CollectedLog();
  const restraints = new Restraints(new RestraintFile(file, readBootId(), lock), log);
  const actions = new LadderActions({
    ...{ native, hierarchies, restraints },
    runner: runner ?? { run: () => Promise.reject(new Error('no program is run here')) },
    ownCgroup: () => own ?? (hierarchies.memory && ownMemoryCgroup(hierarchies.memory)),
  });
  onTestFinished(() => {
    restraints.close();
  });
  return {
    ...{ restraints, log, file },
    act: (action, policy = 'test') =>
      new Promise((resolve) => {
        actions.perform(
          {
            kind: 'policy',
            dryRun: false,
            policy,
            scope: '',
            condition: 'swap.available < 10%',
            values: {},
            readings: '',
            ...action,
          },
          resolve,
        );
      }),
  };
}

/** A workload with a process, and the cgroup beside it that it can be frozen in. */
export interface Frozen {
  /** A cgroup that holds only the workload's. */
  readonly node: TestCgroup;
  readonly cgroup: TestCgroup;
  readonly target: PolicyTarget;
  readonly pid: number;
  /** Whether all its processes are frozen. */
  readonly isFrozen: () => boolean;
  /** Whether it is frozen, or about to be. */
  readonly isHeld: () => boolean;
}

/** To be called in a describe block. */
export function freezable(name: (typeof freezers)[number]): () => Frozen {
  let frozen: Frozen | undefined;
  let beside: Beside | undefined;
  beforeEach(async () => {
    const node = testCgroup();
    const cgroup = node.child(`${node.path.slice(1)}-workload`);
    const { pid } = await cgroup.spawn('sleep', ['600']);
    if (name !== 'own') {
      beside = besideVictim(name, cgroup);
      beside.add(pid);
    }
    const read = (file: string): string => (beside ?? cgroup).read(file);
    const isFrozen = (): boolean =>
      name === 'freezer' ? read('freezer.state') === 'FROZEN\n' : read('cgroup.events').includes('frozen 1');
    const isHeld = (): boolean => (name === 'freezer' ? read('freezer.state') !== 'THAWED\n' : read('cgroup.freeze') !== '0\n');
    frozen = { node, cgroup, target: targetOf(cgroup), pid, isFrozen, isHeld };
  });
  afterEach(async () => {
    thawBesides();
    await frozen?.node.cleanup();
    beside?.cleanup();
    beside = frozen = undefined;
  });
  return () => {
    if (frozen === undefined) throw new Error('only in a test');
    return frozen;
  };
}

export function targetOf(cgroup: TestCgroup): PolicyTarget {
  const { id, name, path } = machineWorkload(cgroup);
  return { id, name, path };
}
