import { departuresOf } from '../../../src/core/decide/departures.js';
import type { Decision, Outcome } from '../../../src/core/decide/eviction.js';
import type { NotificationsConfig } from '../../../src/core/notify/notification.js';
import type { PolicyCause } from '../../../src/core/policy/policy-reason.js';
import { rank, type RankedWorkload } from '../../../src/core/rank/rank.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import type { NotifierParts, PolicyNotice } from '../../../src/features/notify/notifier.js';
import { native } from '../../../src/native/index.js';
import { candidates, Mi, threshold, workload } from '../../core/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

export const NOTHING: NotificationsConfig = {
  ...{ webhook: undefined, desktop: false, killedSignal: false, oomdBusName: false, kernelLog: false, xattrs: false },
};

/** One process of the workload. */
export function onlyProcess(victim: RankedWorkload): RankedWorkload {
  const { path } = victim.workload;
  const memory = { residentBytes: 150n * Mi, anonBytes: 140n * Mi, swapBytes: 0n };
  return { ...victim, process: { path, pid: 4711, startTicks: 1n, command: 'leak', ...memory, oomScore: 800 } };
}

/** A policy has the step `notify`. */
export function notice(scope: string, dryRun = false): PolicyNotice {
  const reason = { policy: 'leaks', scope, condition: 'age > 2h', values: { age: 10_800 }, readings: 'age 3h' };
  return { kind: 'policy', action: 'notify', dryRun, ...reason };
}

/** The same for a policy. */
export function ofPolicy(values: PolicyCause['values'], overrides: Partial<Workload> = {}): Decision {
  const cause = { kind: 'policy', policy: 'desktop', scope: '', condition: '', values, graceNs: 0n } as const;
  return decision(overrides, { cause });
}

/** The eviction of a workload of 200 MiB for memory.available<100Mi. */
export function decision(overrides: Partial<Workload> = {}, more: Partial<Decision> = {}): Decision {
  const { usages } = candidates([workload('batch', overrides), 200n * Mi]);
  const ranking = rank('memory.available', 'single', usages, departuresOf('evictd'));
  const [victim] = ranking;
  if (victim === undefined) throw new Error('no workload was ranked');
  const hard = threshold('memory.available', '100Mi');
  const observation = { available: 12n * Mi, capacity: 1024n * Mi, timeNs: undefined, source: 'test' };
  const cause = { kind: 'threshold', threshold: hard, observation, limit: 100n * Mi } as const;
  const rest = { graceNs: 0n, ranking, unreadable: [], decidedAtNs: 0n, dryRun: false };
  return { serial: 7, resource: 'memory', cause, victim, ...rest, ...more };
}

export function outcome(of: Decision = decision(), result: Outcome['result'] = 'killed'): Outcome {
  const bytes = { expectedBytes: 200n * Mi, freedBytes: 190n * Mi };
  const rest = { removed: true, processesLeft: 0, error: undefined, nodeAfter: undefined };
  return { result, decision: of, counted: true, atNs: 1n, ...bytes, ...rest };
}

/** Parts that note what is reported. */
export function parts(overrides: Partial<NotifierParts> = {}): { readonly parts: NotifierParts; readonly reported: string[] } {
  const reported: string[] = [];
  const host = { openCommandRunner: () => ({ run: () => Promise.resolve(undefined) }), openOomSignal: undefined };
  return {
    reported,
    parts: {
      ...{ node: 'machine', hierarchies: { memory: undefined, unified: undefined }, native, host },
      reportFailure: (error) => reported.push(`trouble: ${error}`),
      report: (result, error) => reported.push(error === undefined ? result : `${result}: ${error}`),
      ...overrides,
    },
  };
}

/** A directory of the test. */
export function scratch(): string {
  const directory = temporaryDirectory('/var/tmp');
  return directory;
}
