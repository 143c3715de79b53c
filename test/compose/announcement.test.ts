import { expect, test } from 'vitest';
import { announceReload, announceStart, warnOfInhibitDelay, type ReloadAnnouncement } from '../../src/compose/announcement.js';
import type { LoadedConfig } from '../../src/config/config.js';
import type { Log } from '../../src/log/log.js';
import { load } from '../config/scratch.js';
import { Gi } from '../core/support.js';
import { machine } from '../config/lint/support.js';

const facts = machine({ reserve: { totalBytes: 8n * Gi, minFreeBytes: 0n, hugePagesBytes: 2n * Gi, kernelBytes: Gi } });
const config = (yaml: string): LoadedConfig => load({ 'config.yaml': yaml });

/** The codes of the warnings. */
function warned(announce: (log: Log) => void): string[] {
  const codes: string[] = [];
  const warn: Log['warn'] = (_message, fields) => void codes.push(String(fields?.code));
  const silent = (): void => undefined;
  announce({ debug: silent, info: silent, warn, error: silent, dropped: 0, flush: () => Promise.resolve() });
  return codes;
}

const start = (yaml: string): string[] =>
  warned((log) => {
    const node = { name: 'machine', cgroup: undefined, cgroupVersion: 1 } as const;
    announceStart(log, config(yaml), { node, dryRun: false, canSignalOthers: true, machine: facts });
  });

test.each<[rule: string, yaml: string, codes: readonly string[]]>([
  [
    'a threshold that this machine cannot reach',
    'evictionHard: {memory.available: 2Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]',
    ['EVICTD_LINT_UNREACHABLE'],
  ],
  [
    'a mere notice is left to config check',
    'evictionHard: {memory.available: 4Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]\nevictionPressureTransitionPeriod: 1s',
    [],
  ],
  [
    'once for a configuration without a source',
    'evictionHard: {memory.available: 4Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}',
    ['EVICTD_WORKLOADS_NONE'],
  ],
])('a start warns: %s', (_rule, yaml, codes) => {
  expect(start(yaml)).toEqual(codes);
});

test('a reload warns of new findings only', () => {
  const before = config('evictionHard: {memory.available: 2Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]');
  const after = config('evictionHard: {memory.available: 2Gi, nodefs.available: 100Gi, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]');
  expect(warned((log) => announceReload(log, before.config, before, before, facts))).toEqual([]);
  expect(warned((log) => announceReload(log, before.config, before, after, facts))).toEqual(['EVICTD_LINT_ALWAYS_MET']);
});

test('a reload that removes the last workload source warns once', () => {
  const thresholds = 'evictionHard: {memory.available: 4Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}\n';
  const [before, after] = [config(`${thresholds}workloads: [{cgroup: /a}]`), config(thresholds)];
  expect(warned((log) => announceReload(log, before.config, before, after, facts))).toEqual(['EVICTD_WORKLOADS_NONE']);
  expect(warned((log) => announceReload(log, before.config, after, after, facts))).toEqual([]);
});

test('the choice of the available-memory counter is made at the start, and a change needs a restart', () => {
  const rest = 'evictionHard: {memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]\n';
  const [before, after] = [config(rest), config(`${rest}departures: {kernel-memory: false, hard-grace: false}\n`)];
  let announced: ReloadAnnouncement | undefined;
  expect(warned((log) => (announced = announceReload(log, before.config, before, after, machine())))).toEqual(['EVICTD_RELOAD_RESTART']);
  expect(announced?.warnings[0]).toContain('only after a restart: kernel-memory');
  expect(announced?.message).toBe(
    'evictd reloaded its configuration: memory.available<1Gi, memory.pressure.full>30% & memory.available<10% (soft); workloads: /a; without hard-grace',
  );
});

const ALLOCATABLE = 'allocatable: {cgroup: /a, capacity: 4Gi}\n';

test.each<[rule: string, started: string, after: string, codes: readonly string[], inForce: string]>([
  [
    'added: a warning that it needs a restart',
    '',
    ALLOCATABLE,
    ['EVICTD_RELOAD_RESTART', 'EVICTD_CONFIG_ALLOCATABLE'],
    'allocatableMemory.available<1Gi (not read), memory.available<1Gi, memory.pressure.full>30% & memory.available<10% (soft); workloads: /a',
  ],
  [
    'the setting is unchanged, and is read',
    `${ALLOCATABLE}enforceNodeAllocatable: []\n`,
    ALLOCATABLE,
    [],
    'allocatableMemory.available<1Gi, memory.available<1Gi, memory.pressure.full>30% & memory.available<10% (soft); workloads: /a',
  ],
  [
    'the setting has changed, and that of the start is used',
    ALLOCATABLE,
    ALLOCATABLE.replace('4Gi', '5Gi'),
    ['EVICTD_RELOAD_RESTART'],
    'allocatableMemory.available<1Gi, memory.available<1Gi, memory.pressure.full>30% & memory.available<10% (soft); workloads: /a',
  ],
  [
    'the setting was added but is not enforced, and only the need of a restart is announced',
    '',
    `${ALLOCATABLE}enforceNodeAllocatable: []\n`,
    ['EVICTD_RELOAD_RESTART'],
    'memory.available<1Gi, memory.pressure.full>30% & memory.available<10% (soft); workloads: /a',
  ],
])('allocatable memory after a reload: %s', (_rule, started, after, codes, inForce) => {
  const rest = 'evictionHard: {memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]\n';
  const [before, loaded] = [config(started + rest), config(after + rest)];
  let reported: ReloadAnnouncement | undefined;
  const quiet = machine();
  expect(warned((log) => (reported = announceReload(log, before.config, before, loaded, quiet)))).toEqual(codes);
  expect(reported?.message).toBe(`evictd reloaded its configuration: ${inForce}`);
  expect(reported?.warnings).toHaveLength(codes.length);
  const again = codes.filter((code) => code !== 'EVICTD_CONFIG_ALLOCATABLE');
  expect(warned((log) => announceReload(log, before.config, loaded, loaded, quiet))).toEqual(again);
});

const PERIOD = 'evictionHard: {memory.available: 4Gi, nodefs.available: 1Gi, nodefs.inodesFree: 0%}\nworkloads: [{cgroup: /a}]\n';
const THIRTY = `${PERIOD}shutdownGracePeriod: 30s`;

test.each<[rule: string, yaml: string, maxNs: bigint | undefined, codes: readonly string[]]>([
  ['exactly the time that is needed', THIRTY, 32_000_000_000n, []],
  ['a nanosecond less', THIRTY, 31_999_999_999n, ['EVICTD_SHUTDOWN_DELAY']],
  ['there is no shutdown grace period', PERIOD, 0n, []],
  ['logind does not answer', THIRTY, undefined, []],
])('the longest shutdown delay of logind: %s', async (_rule, yaml, maxNs, codes) => {
  const said: string[] = [];
  const log = { warn: (message: string, fields?: { readonly code?: unknown }) => said.push(`${String(fields?.code)} ${message}`) };
  let requested = 0;
  await warnOfInhibitDelay(log as unknown as Log, config(yaml).config.shutdown, () => {
    requested += 1;
    return Promise.resolve(maxNs === undefined ? undefined : { kind: 'known', maxNs });
  });
  expect(requested).toBe(yaml === PERIOD ? 0 : 1);
  expect(said.map((line) => line.split(' ')[0])).toEqual(codes);
  if (codes.length > 0) expect(said[0]).toContain('InhibitDelayMaxSec=32');
});

test("a start reads logind's delay, and so does a reload that changes the grace period, without waiting for the answer", () => {
  const requested: bigint[] = [];
  const ask: typeof warnOfInhibitDelay = (_log, { shutdownGracePeriodNs }) => {
    requested.push(shutdownGracePeriodNs / 1_000_000_000n);
    return new Promise(() => undefined);
  };
  const [none, thirty, forty] = [PERIOD, THIRTY, `${PERIOD}shutdownGracePeriod: 40s`].map(config) as [
    LoadedConfig,
    LoadedConfig,
    LoadedConfig,
  ];
  const node = { name: 'machine', cgroup: undefined, cgroupVersion: 1 } as const;
  warned((log) => {
    announceStart(log, thirty, { node, dryRun: false, canSignalOthers: true, machine: facts }, ask);
  });
  warned((log) => announceReload(log, none.config, thirty, thirty, facts, ask));
  warned((log) => announceReload(log, none.config, thirty, forty, facts, ask));
  expect(requested).toEqual([30n, 40n]);
});
