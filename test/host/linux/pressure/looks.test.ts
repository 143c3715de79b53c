import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Observation } from '../../../../src/core/signal/observation.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import type { NotifierMode } from '../../../../src/host/linux/sampling/notifier-mode.js';
import { PressureAndSwap } from '../../../../src/host/linux/pressure/pressure-and-swap.js';
import { kernelAvailable, swapAvailable } from '../../../../src/host/linux/memory/swap.js';
import { native } from '../../../../src/native/index.js';
import { listed } from '../../../core/listed.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let own: PressureAndSwap | undefined;
afterEach(() => own?.close());

const BEGIN_NS = 1_000_000_000_000n;
const WINDOW_NS = 2_000_000_000n;
const DEFAULT = ['memory.pressure.full>30% & memory.available<10%'];
const short: Observation = { available: 5n, capacity: 100n, timeNs: 1n, source: 'test' };
const ample: Observation = { ...short, available: 50n };

/** A node with a window of 2 s and triggers that never wake. `stall` sets the ms that were lost since boot. */
function watched(thresholds = DEFAULT, mode: NotifierMode = 'arm', refuse = false) {
  const directory = temporaryDirectory();
  const stall = (resource: string, ms: number): void => {
    const line = (kind: string): string => `${kind} avg10=0.00 avg60=0.00 avg300=0.00 total=${String(ms * 1_000)}\n`;
    writeFileSync(join(directory, resource), line('some') + line('full'));
  };
  for (const resource of ['memory', 'io', 'cpu']) stall(resource, 0);
  const triggers: { live: boolean; close: () => void }[] = [];
  const PsiTrigger = function (this: (typeof triggers)[number]) {
    if (refuse) throw Object.assign(new Error('refused'), { code: 'EACCES', syscall: 'write' });
    this.live = true;
    this.close = () => undefined;
    triggers.push(this);
  } as unknown as typeof native.PsiTrigger;
  const amounts = { 'memory.kernelAvailable': kernelAvailable(false), 'swap.available': swapAvailable(undefined) };
  const pressure = { fileOf: (resource: string) => join(directory, resource), remark: '' };
  const signals = (own = new PressureAndSwap({ ...native, PsiTrigger }, { pressure, amounts, windowNs: WINDOW_NS }, mode));
  signals.arm(
    thresholds.map((when) => listed(when, 'soft', 3)),
    () => undefined,
  );
  /** A pass. In ms: its time, and how much later the next look is. */
  const pass = (atMs: number, memory = short): { share: number | undefined; nextMs: number | undefined } => {
    const timeNs = BEGIN_NS + BigInt(atMs) * 1_000_000n;
    const seen = signals.read(timeNs).flatMap(([signal, reading]) => ('missing' in reading ? [] : [[signal, reading] as const]));
    const observed = new Map<Signal, Observation>([['memory.available', memory], ...seen]);
    signals.decided(observed, timeNs);
    const share = observed.get('memory.pressure.full');
    return { share: share && Number(share.available) / 1e7, nextMs: afterMs(timeNs) };
  };
  const afterMs = (timeNs: bigint): number | undefined =>
    signals.lookAtNs === undefined ? undefined : Number((signals.lookAtNs - timeNs) / 1_000_000n);
  const look = (atMs: number): { crossed: boolean; nextMs: number | undefined } => {
    const timeNs = BEGIN_NS + BigInt(atMs) * 1_000_000n;
    return { crossed: signals.look(timeNs), nextMs: afterMs(timeNs) };
  };
  return { stall, triggers, pass, look };
}

test('looks come once in a window as soon as a share is known and far below its limit', () => {
  const { pass, look } = watched();
  expect(pass(0)).toEqual({ share: undefined, nextMs: 500 });
  expect(look(500)).toMatchObject({ nextMs: 500 });
  expect(pass(2_000)).toEqual({ share: 0, nextMs: 2_000 });
  expect(look(4_003)).toEqual({ crossed: false, nextMs: 2_000 });
  expect(look(6_010)).toEqual({ crossed: false, nextMs: 2_000 });
});

test.each<[rule: string, lostMs: number, nextMs: number]>([
  ['just below a quarter of the limit', 149, 2_000],
  ['a quarter of the limit', 150, 500],
  ['above the limit', 700, 500],
])('looks depend on the share: %s', (_rule, lostMs, nextMs) => {
  const { pass, look, stall } = watched();
  pass(0);
  pass(2_000);
  stall('memory', lostMs);
  expect(look(4_000).nextMs).toBe(nextMs);
  expect(pass(4_000).nextMs).toBe(nextMs);
});

test.each<[rule: string, wakeMs: number, lostMs: number, percent: number]>([
  ['soon after a look', 6_700, 700, 35],
  ['just before the next look', 8_002, 1_900, 95],
  ['a quarter of a window late, with what was lost meanwhile taken for even', 8_505, 1_000, 40],
])('rare looks leave the share of the last window known when a trigger wakes: %s', (_rule, wakeMs, lostMs, percent) => {
  const { pass, look, stall } = watched();
  pass(0);
  pass(2_000);
  look(4_002);
  look(6_005);
  stall('memory', lostMs);
  expect(pass(wakeMs)).toEqual({ share: percent, nextMs: 500 });
});

test('looks come soon after a wake that reads too little, because a stall had begun before the last look', () => {
  const { pass, look, stall } = watched();
  pass(0);
  pass(2_000);
  stall('memory', 132);
  expect(look(4_200).nextMs).toBe(2_000);
  stall('memory', 620);
  expect(pass(4_700)).toEqual({ share: 28.9, nextMs: 500 });
  stall('memory', 1_120);
  expect(look(5_200)).toEqual({ crossed: true, nextMs: 500 });
});

test.each<[rule: string, mode: NotifierMode, refuse: boolean]>([
  ['in a dry run', 'sample', false],
  ['where the kernel refuses the trigger', 'arm', true],
])('looks come four times in a window without a trigger: %s', (_rule, mode, refuse) => {
  const { pass, look } = watched(DEFAULT, mode, refuse);
  pass(0);
  expect(pass(2_000)).toEqual({ share: 0, nextMs: 500 });
  expect(look(2_500).nextMs).toBe(500);
});

test('looks come four times in a window as soon as one of the triggers has ended', () => {
  const { pass, look, triggers } = watched([...DEFAULT, 'io.pressure.some>50%']);
  pass(0);
  expect(pass(2_000).nextMs).toBe(2_000);
  expect(triggers).toHaveLength(2);
  for (const trigger of triggers.slice(1)) trigger.live = false;
  expect(look(4_000).nextMs).toBe(500);
});

test('looks do not depend on pressure that cannot meet a threshold now', () => {
  const { pass, stall } = watched(['io.pressure.full>90%', 'memory.pressure.full>30% & memory.available<10%']);
  pass(0);
  pass(2_000);
  stall('memory', 1_000);
  expect(pass(4_000, ample).nextMs).toBe(2_000);
  expect(pass(4_001, short).nextMs).toBe(500);
});

test.each<[rule: string, thresholds: string[], nextMs: number]>([
  ['an average beside a share', ['memory.pressure.full>30%', 'memory.pressure.full.avg60>30%'], 2_000],
  ['only averages', ['memory.pressure.full.avg60>30%'], 2_000],
  ['any pressure', ['memory.pressure.full>0%'], 500],
])('looks have their interval: %s', (_rule, thresholds, nextMs) => {
  const { pass } = watched(thresholds);
  pass(0);
  expect(pass(2_000).nextMs).toBe(nextMs);
});
