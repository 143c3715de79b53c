import { describe, expect, test } from 'vitest';
import { lintConfig } from '../../../src/config/lint-notices.js';
import { loadWritten } from '../../../src/config/load.js';
import type { MachineFacts } from '../../../src/config/lint/machine.js';
import type { NotifierState } from '../../../src/monitor/ports/ports.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import type { CheckStatus } from '../../../src/features/doctor/check.js';
import { filesystemsCheck, volumesCheck } from '../../../src/features/doctor/checks/filesystems.js';
import { withRest } from '../../../src/features/doctor/findings.js';
import { pressureCheck } from '../../../src/features/doctor/checks/kernel.js';
import { swapCheck, watermarksCheck } from '../../../src/features/doctor/checks/memory.js';
import { notifiersCheck } from '../../../src/features/doctor/checks/node.js';
import { numaCheck } from '../../../src/features/doctor/checks/numa.js';
import { evictableCheck, lintCheck, sourcesCheck } from '../../../src/features/doctor/checks/workloads.js';
import { nodeFacts } from '../../../src/features/doctor/inspection/node-inspection.js';
import { workloadFacts } from '../../../src/features/doctor/inspection/workloads-inspection.js';
import { machine as lintMachine, present } from '../../config/lint/support.js';
import { Gi, Mi } from '../../core/support.js';
import { memoryFacts } from './support.js';

const STATUS = { error: 'broken', warn: 'degraded', info: 'ok' } as const;

const reserve = { totalBytes: 8n * Gi, minFreeBytes: 64n * Mi, hugePagesBytes: 0n, kernelBytes: 0n };

const notifier = (signal: Signal, facts: Partial<NotifierState> = {}): NotifierState => {
  return { mechanism: 'sampler', signal, target: 'T', live: true, reason: undefined, hint: undefined, essential: true, ...facts };
};
const DEAD = { live: false, reason: 'EROFS', hint: 'mount it writable' };
const ALL = (['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'memory.pressure.full', 'swap.available'] as const).map(
  (signal) => notifier(signal),
);
const arm = (signal: Signal, facts: Partial<NotifierState>): readonly NotifierState[] => [
  ...ALL.filter((each) => each.signal !== signal),
  notifier(signal, facts),
];

const THERE = {
  kind: 'there',
  at: '/',
  afterMs: 0.02,
  type: 0xef53,
  device: 1n,
  totalBytes: Gi,
  availableBytes: Gi,
  refused: undefined,
  toMakeBytes: 0n,
} as const;

const source = { text: '/a', workloads: 1, unreadable: 0, problems: [] };
const VACANT = { kind: 'vacant', text: 'it has no processes' } as const;
const WORKLOADS = { present: [present('web')], sources: [source] };

/** A machine of 8 GiB where evictd does its job. */
const machine = (facts: Partial<MachineFacts> = {}): MachineFacts => ({
  ...lintMachine({ reserve, notifiers: ALL, pressureOf: 'machine', workloads: WORKLOADS }),
  ...facts,
});

type Settings = Readonly<Record<string, unknown>>;

const configured = (settings: Settings) => {
  const all = { workloads: [{ cgroup: '/a' }], evictionHard: { 'memory.available': '500Mi' }, ...settings };
  return loadWritten({ files: [{ file: 'config.yaml', settings: all }], flags: {} }, {});
};

/** The checks that show findings, on the facts that `config check` has, too. */
function examined(settings: Settings, facts: MachineFacts) {
  const loaded = configured(settings);
  const workloads = workloadFacts(loaded, facts);
  const node = nodeFacts(loaded, facts);
  const directories = [{ role: 'nodefs' as const, path: '/', isReported: false, answer: THERE }];
  const pressure = { state: facts.unreadable.has('memory.pressure.full') ? 'off' : 'on', built: undefined, parameter: undefined } as const;
  const swap = facts.reserve?.zram === true ? { swapBytes: Gi, swaps: ['/dev/zram0'] } : {};
  const checks = [
    watermarksCheck.judge({ node, workloads }),
    swapCheck.judge({ memory: memoryFacts(swap), workloads }),
    pressureCheck.judge({ pressure: { ...pressure, window: undefined }, workloads }),
    notifiersCheck.judge({ node, workloads }),
    filesystemsCheck.judge({ filesystems: { directories, timeoutMs: 1000 }, workloads }),
    sourcesCheck.judge({ workloads }),
    evictableCheck.judge({ workloads }),
    numaCheck.judge({ kernelFile: () => '0-1\n', workloads }),
    lintCheck.judge({ workloads }),
  ].flat();
  return { checks, notices: [...loaded.notices, ...lintConfig(loaded, facts)], workloads };
}

type Row = [rule: string, settings: Settings, facts: Partial<MachineFacts>, id: string, status: CheckStatus, said: RegExp];

const NO_PRESSURE = { departures: { thrashing: false } };
const KUBELET = { compatibility: 'kubelet', enforceNodeAllocatable: [] };
const hard = (...limits: string[]): Settings => ({ evictionHard: Object.fromEntries(limits.map((limit) => limit.split('<'))) });

const ROWS: readonly Row[] = [
  ['far above the reserve', {}, {}, 'kernel.watermarks', 'ok', /is 436MiB above the kernel's reserve: one core allocates that in 304 ms/],
  ['exactly the reserve', hard('memory.available<64Mi'), {}, 'kernel.watermarks', 'broken', /is never met: min_free_kbytes 64MiB/],
  ['a threshold that is never met, on every machine', hard('memory.available<0.0%'), {}, 'kernel.watermarks', 'broken', /never below 0/],
  ['19 ms above it', hard('memory.available<92Mi'), {}, 'kernel.watermarks', 'degraded', / in 19 ms \(1\.5 GB\/s\), too short/],
  ['20 ms above it', hard('memory.available<93Mi'), {}, 'kernel.watermarks', 'ok', / in 20 ms/],
  [
    "within the kernel's own memory",
    KUBELET,
    { reserve: { ...reserve, kernelBytes: Gi } },
    'kernel.watermarks',
    'degraded',
    /rarely met before the kernel's OOM killer runs/,
  ],
  [
    'the kernel swaps first',
    { ...NO_PRESSURE, ...hard('memory.available<96Mi') },
    { reserve: { ...reserve, swapBytes: Gi, highBytes: 96n * Mi } },
    'kernel.watermarks',
    'degraded',
    /only when swap is full: .*96MiB free \(high\)/,
  ],
  [
    'a threshold of one byte more',
    { ...NO_PRESSURE, ...hard('memory.available<97Mi') },
    { reserve: { ...reserve, swapBytes: Gi, highBytes: 96n * Mi } },
    'kernel.watermarks',
    'ok',
    / in 23 ms/,
  ],
  [
    'a threshold of one byte more, and swap is watched',
    { ...NO_PRESSURE, ...hard('memory.available<96Mi', 'swap.available<10%') },
    { reserve: { ...reserve, swapBytes: Gi, highBytes: 96n * Mi } },
    'kernel.watermarks',
    'ok',
    / in 22 ms/,
  ],
  ['MemAvailable leaves the reserve out', hard('memory.available<60Mi'), { estimated: true }, 'kernel.watermarks', 'ok', / in 41 ms/],
  [
    'MemAvailable leaves the reserve out, and 19 ms are too short',
    hard('memory.available<28Mi'),
    { estimated: true },
    'kernel.watermarks',
    'degraded',
    / in 19 ms .*, too short/,
  ],
  [
    'soft alone',
    {
      evictionHard: { 'memory.available': '0%' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '5m' },
    },
    {},
    'kernel.watermarks',
    'degraded',
    /has no hard threshold behind it/,
  ],
  ['zram', KUBELET, { reserve: { ...reserve, zram: true } }, 'kernel.swap', 'degraded', /^swap is on zram/],
  ['zram, and MemAvailable', {}, { reserve: { ...reserve, zram: true }, estimated: true }, 'kernel.swap', 'ok', /compressed$/],
  [
    'PSI is off',
    {},
    { unreadable: new Map([['memory.pressure.full', 'ENOENT']]) },
    'kernel.pressure',
    'degraded',
    /cannot be read: ENOENT/,
  ],
  [
    'the sampler is refused',
    {},
    { notifiers: arm('memory.available', DEAD) },
    'notifier.memory.available',
    'ok',
    /sampler cannot be armed/,
  ],
  [
    'the sampler is refused, and memory is used faster than evictd polls',
    {},
    { notifiers: arm('memory.available', DEAD), polled: new Map([['memory.available', 'sampler: EROFS']]) },
    'notifier.memory.available',
    'degraded',
    /is only polled every 10s, because neither/,
  ],
  [
    'a disk is polled',
    {},
    { notifiers: arm('nodefs.available', DEAD) },
    'notifier.nodefs.available',
    'degraded',
    /polled every 10s: sampler/,
  ],
  [
    'another notifier replaces it',
    {},
    { notifiers: [...ALL, notifier('nodefs.available', { ...DEAD, essential: false })] },
    'notifier.nodefs.available',
    'ok',
    /./,
  ],
  [
    'there is no swap',
    hard('swap.available<10%'),
    { absent: new Map([['swap.available', 'no swap']]) },
    'notifier.swap.available',
    'ok',
    /does not exist here/,
  ],
  ['allocatable is not set', { compatibility: 'kubelet' }, {}, 'notifier.allocatableMemory.available', 'degraded', /without allocatable/],
  [
    'a disk that cannot be read',
    {},
    { unreadable: new Map([['nodefs.available', '/: no answer']]) },
    'filesystem.nodefs',
    'degraded',
    /^nodefs\.available cannot be read: \/: no answer$/,
  ],
  [
    'a layout',
    {},
    { unreadable: new Map([['containerfs.available', 'unsupported']]) },
    'filesystem.containerfs',
    'degraded',
    /containerfs\.\*/,
  ],
  [
    'a source does not exist',
    {},
    { workloads: { ...WORKLOADS, sources: [{ ...source, problems: [{ code: 'EVICTD_SOURCE_MISSING', message: '/a does not exist' }] }] } },
    'workloads[0]',
    'degraded',
    /^\/a does not exist$/,
  ],
  [
    'a source is empty',
    {},
    { workloads: { ...WORKLOADS, sources: [{ ...source, workloads: 0 }] } },
    'workloads[0]',
    'degraded',
    /no workload exists/,
  ],
  [
    'the file cannot be read',
    {},
    { workloads: { ...WORKLOADS, sources: [{ ...source, unreadable: 2 }] } },
    'workloads[0]',
    'degraded',
    /, and 2 that evictd/,
  ],
  ['one workload', {}, {}, 'workloads[0]', 'ok', /^\/a: 1 workload$/],
  ['one workload can be evicted', {}, {}, 'workloads.evictable', 'ok', /^1 of 1 workloads can be evicted$/],
  [
    'one workload can be evicted beside a critical one',
    {},
    { workloads: { ...WORKLOADS, present: [present('web'), present('db', { unevictable: { kind: 'critical', text: 'critical' } })] } },
    'workloads.evictable',
    'ok',
    /^1 of 2 workloads can be evicted; not evictable: 1 × critical$/,
  ],
  [
    'there is no source',
    { workloads: [] },
    { workloads: { present: [], sources: [] } },
    'workloads.evictable',
    'broken',
    /^no workload source is configured/,
  ],
  [
    'there is no workload',
    {},
    { workloads: { present: [], sources: [] } },
    'workloads.evictable',
    'broken',
    /^evictd evicts nothing: no workload exists/,
  ],
  ['there is no budget', { evictionBudget: { max: 0 } }, {}, 'workloads.evictable', 'broken', /evictionBudget\.max is 0/],
  [
    'NUMA',
    { departures: { 'memory-nodes': false } },
    { workloads: { ...WORKLOADS, present: [present('web', { memoryNodes: [1] })] } },
    'workloads.numa',
    'degraded',
    /^web is bound to memory node 1/,
  ],
  [
    'NUMA, and a cpuset that cannot be read',
    {},
    { workloads: { ...WORKLOADS, present: [present('web', { memoryNodes: 'unknown' })] } },
    'workloads.numa',
    'degraded',
    /permits to web are not known/,
  ],
  [
    'NUMA, and a cpuset that cannot be read, of a workload without processes',
    {},
    { workloads: { ...WORKLOADS, present: [present('web'), present('db', { memoryNodes: 'unknown', unevictable: VACANT })] } },
    'workloads.numa',
    'ok',
    /^2 memory nodes, and no workload/,
  ],
  [
    'NUMA without cpusets',
    {},
    {},
    'workloads.numa',
    'ok',
    /^2 memory nodes, and no workload .* that bind themselves \(numactl, mbind\) are not seen$/,
  ],
  [
    'any other finding',
    { rules: [{ match: { name: 'db' }, priority: 1 }] },
    {},
    'config.lint',
    'degraded',
    /matches no workload that exists now/,
  ],
];

describe('doctor and config check judge a fact in one place', () => {
  test.each(ROWS)('%s', (_rule, settings, facts, id, status, said) => {
    const { checks, notices } = examined(settings, machine(facts));
    const check = checks.find((each) => each.id === id);
    expect(check).toMatchObject({ id, status });
    expect(check?.summary).toMatch(said);
    expect(check?.fix === undefined).toBe(status === 'ok');
    // Each finding is shown by one check, which is as bad as its worst finding.
    const shown = checks.flatMap((each) =>
      ((each.details.findings ?? []) as { message: string }[]).map(({ message }) => [each, message] as const),
    );
    expect(shown.map(([, message]) => message).sort()).toEqual(notices.map(({ message }) => message).sort());
    for (const { level, message } of notices) {
      const [by] = shown.find(([, text]) => text === message) ?? [];
      const others = notices
        .filter((notice) => shown.some(([each, text]) => each === by && text === notice.message))
        .map((notice) => notice.level);
      expect([by?.id, by?.status]).toEqual([
        by?.id,
        STATUS[(['error', 'warn', 'info'] as const).find((each) => others.includes(each)) ?? level],
      ]);
    }
    // No check is worse than ok without a finding.
    expect(checks.filter((each) => each.status !== 'ok' && each.details.findings === undefined)).toEqual([]);
  });
});

test('without a readable node no workload is evictable, and no threshold is judged', () => {
  const loaded = configured({});
  const [node, workloads] = [nodeFacts(loaded, undefined, { message: 'gone', hint: undefined }), workloadFacts(loaded, undefined)];
  expect(evictableCheck.judge({ workloads })).toMatchObject([
    { status: 'broken', summary: 'evictd evicts nothing: no workload can be read' },
  ]);
  expect([...notifiersCheck.judge({ node, workloads }), ...watermarksCheck.judge({ node, workloads })]).toEqual([]);
});

test('lint judges a volume of Windows that does not answer, if it has a threshold', () => {
  const { workloads } = examined({}, machine({ unreadable: new Map([['nodefs.available', 'C:\\: no answer']]) }));
  const volume = { role: 'nodefs', path: 'C:\\', answer: undefined, refused: undefined } as const;
  expect(volumesCheck.judge({ volumes: [volume], workloads })).toMatchObject([{ status: 'degraded', details: { findings: [{}] } }]);
});

test('config.lint has a finding whose check this machine does not have', () => {
  const soft = { evictionSoft: { 'memory.available': '1Gi' }, evictionSoftGracePeriod: { 'memory.available': '5m' } };
  const facts = machine({ unreadable: new Map([['containerfs.available', 'unsupported']]) });
  const { checks, workloads, notices } = examined({ evictionHard: { 'memory.available': '0%' }, ...soft }, facts);
  expect(notices.filter(({ level }) => level === 'warn').length).toBeGreaterThan(1);
  expect(withRest(checks, workloads)).toBe(checks);
  const onWindows = checks.filter(({ id }) => !/^(kernel|filesystem)\./.test(id));
  expect(onWindows.filter(({ status }) => status !== 'ok')).toEqual([]);
  const [rest, ...others] = withRest(onWindows, workloads).filter(({ status }) => status !== 'ok');
  expect([rest?.id, rest?.status, others]).toEqual(['config.lint', 'degraded', []]);
  expect(rest?.details.findings).toHaveLength(notices.length);
});
