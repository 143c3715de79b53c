import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { loadWritten } from '../../../src/config/load.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import type { Check, CheckStatus } from '../../../src/features/doctor/check.js';
import type { CgroupFacts, MemoryFacts, ServiceFacts, SubjectFacts } from '../../../src/host/facts.js';
import type { NodeFacts, WorkloadFacts } from '../../../src/features/doctor/machine-facts.js';

export const MIB = 1n << 20n;
export const GIB = 1n << 30n;

/** Captured on a machine: test/fixtures/linux/README.md. */
export const fixture = (name: string): string => readFileSync(`test/fixtures/linux/doctor/${name}`, 'utf8');

/** A machine with cgroup v2, seen from outside of any container. */
export function cgroupFacts(facts: Partial<CgroupFacts> = {}): CgroupFacts {
  return {
    memory: { version: 2, mountPoint: '/sys/fs/cgroup' },
    unified: true,
    rootVisible: true,
    writable: true,
    namespaces: { cgroup: 'initial', pid: 'initial', user: 'initial' },
    delegations: [],
    pods: undefined,
    ...facts,
  };
}

/** Root with every capability of Linux 6.12. */
export const EVERY_CAPABILITY = 0x1ff_ffff_ffffn;

export function withoutCapabilities(...bits: bigint[]): bigint {
  return bits.reduce((set, bit) => set & ~(1n << bit), EVERY_CAPABILITY);
}

export function subjectFacts(facts: Partial<SubjectFacts> = {}): SubjectFacts {
  return {
    kind: 'this process',
    pid: 4711,
    uid: 0,
    effective: EVERY_CAPABILITY,
    limits: { openFiles: 1024, lockedBytes: 8_388_608 },
    oomScoreAdj: 0,
    cgroups: undefined,
    ...facts,
  };
}

/** 8 GiB without swap. */
export function memoryFacts(facts: Partial<MemoryFacts> = {}): MemoryFacts {
  return {
    overcommitMemory: 0,
    totalBytes: 8n * GIB,
    commitLimitBytes: 4n * GIB,
    swapBytes: 0n,
    swaps: [],
    swappiness: 60,
    ...facts,
  };
}

/** Thresholds as the flag has them, and no other. */
export function hard(flag: string): readonly Threshold[] {
  const { thresholds } = loadWritten({ files: [], flags: {} }, { evictionHard: [flag] }).config;
  return thresholds.filter(({ signal }) => flag.includes(signal));
}

export function nodeFacts(facts: Partial<NodeFacts> = {}): NodeFacts {
  return {
    name: 'machine',
    missing: undefined,
    isMachine: true,
    thresholds: hard('memory.available<500Mi'),
    capacities: new Map([['memory.available', 8n * GIB]]),
    notifiers: [],
    ...facts,
  };
}

export function workloadFacts(facts: Partial<WorkloadFacts> = {}): WorkloadFacts {
  return { sources: [], listed: [], filesEach: 5, notices: [], ...facts };
}

/** What `systemctl show` says of a service that runs as it was installed, with changes. */
export function unit(properties: Readonly<Record<string, string>> = {}): ServiceFacts {
  return {
    kind: 'unit',
    properties: {
      LoadState: 'loaded',
      ActiveState: 'active',
      SubState: 'running',
      UnitFileState: 'enabled',
      NeedDaemonReload: 'no',
      Result: 'success',
      WatchdogUSec: '30s',
      Restart: 'always',
      ...properties,
    },
  };
}

/** A row of a table: what was found, and nothing to fix exactly where it is ok. */
export function expectCheck(check: Check | undefined, id: string, status: CheckStatus, said: RegExp): void {
  expect(check).toMatchObject({ id, status });
  expect(check?.summary).toMatch(said);
  expect(check?.fix === undefined).toBe(status === 'ok');
  expect(() => JSON.stringify(check)).not.toThrow(); // a bigint among the details would
}
