import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { Evictd, victimOf, type JournalLine } from './evictd.js';
import { dyingAt, type Moment } from './mortal.js';
import { ABOVE_128_MIB, guarding, testNode, workload, type Workload, type WorkloadPlan } from './node.js';
import { SLOWNESS } from '../support/slowness.js';
import type { TestCgroup } from '../support/cgroup.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { aWhile, until } from './wait.js';

export const batchFirst = [{ match: { name: 'batch' }, priority: -1 }];

/** From SIGTERM to SIGKILL: long enough to restart evictd, which takes up to 40 s on a busy emulated machine. */
export const GRACE_S = SLOWNESS > 1 ? 60 : 3;

/** A soft threshold at 128 MiB without a grace period. */
export function softly(node: Parameters<typeof guarding>[0], more: object = {}): Record<string, unknown> {
  return {
    ...guarding(node, batchFirst),
    evictionHard: { 'memory.available': '64Mi' },
    evictionSoft: ABOVE_128_MIB,
    evictionSoftGracePeriod: { 'memory.available': '1ns' },
    evictionMaxPodGracePeriod: GRACE_S,
    ...more,
  };
}

/** Two workloads on a node; `batch` takes too much on `grow()`. */
export async function setting(onTerm?: WorkloadPlan['onTerm']) {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, ...(onTerm && { onTerm }) });
  const web = await workload(node.child('web'), { holdsMib: 10 });
  return { node, batch, web, directory: temporaryDirectory('/dev/shm') };
}

/** Results by decision: each decision has exactly one outcome. */
function results(journal: readonly JournalLine[]): string[] {
  const decisions = journal.filter(({ type }) => type === 'decision').map(({ decision }) => decision);
  const outcomes = journal.filter(({ type }) => type === 'outcome');
  expect(outcomes.map(({ decision }) => decision).sort()).toEqual(decisions);
  expect(new Set(decisions).size).toBe(decisions.length);
  return decisions.map((number) => String(outcomes.find(({ decision }) => decision === number)?.result));
}

/** Only `batch` was ever a victim, and no record is there twice. */
function expectTruth(journal: readonly JournalLine[]): void {
  const victims = journal.filter(({ type }) => type === 'decision' || type === 'outcome').map(victimOf);
  expect(new Set(victims)).toEqual(new Set(['batch']));
  const lines = journal.map((line) => JSON.stringify(line));
  expect(new Set(lines).size).toBe(lines.length);
}

export const terms = (batch: Workload): number =>
  batch
    .said()
    .split('\n')
    .filter((word) => word === 'term').length;

/** Waits until batch got SIGTERM and the saved state has that: otherwise a restarted evictd sends it again. */
export async function untilTerminating(batch: Workload, node: TestCgroup, runtimeDirectory: string): Promise<void> {
  const state = `${runtimeDirectory}/cgroup-${encodeURIComponent(node.path)}.state`;
  await until('batch got SIGTERM', () => terms(batch) === 1 && readFileSync(state, 'latin1').includes('"sent":"signalNs"'));
}

const outcomes = (evictd: Evictd): JournalLine[] => evictd.journal().filter(({ type }) => type === 'outcome');

/** Kills evictd at a moment of the eviction of `batch`, starts it again, and checks `results` in the journal. */
async function startedAgain(plan: { readonly soft: boolean }, moment: Moment, expected: readonly string[]): Promise<Workload> {
  const { node, batch, web, directory } = await setting(plan.soft ? 'say' : undefined);
  const config = plan.soft ? softly(node) : guarding(node, batchFirst);
  const mortal = await new Evictd({ config, directory, through: dyingAt(directory, moment) }).guarding();
  batch.grow();
  expect(await mortal.exited()).toBe('SIGKILL');

  const evictd = await new Evictd({ config, directory }).guarding();
  expect(await batch.ended).toBe('SIGKILL');
  await evictd.until('every decision has its outcome', () => outcomes(evictd).length === expected.length);
  await aWhile();
  expect(web.alive).toBe(true);
  expect(await evictd.stop()).toBe(0);
  expect(results(evictd.journal()), JSON.stringify(outcomes(evictd))).toEqual(expected);
  expectTruth(evictd.journal());
  return batch;
}

/** With a hard threshold: SIGKILL at once. */
export async function hardAndKilled(moment: Moment, expected: readonly string[]): Promise<void> {
  await startedAgain({ soft: false }, moment, expected);
}

/** With a soft threshold, and a victim that ignores SIGTERM; `asked`: how often it got SIGTERM. */
export async function softAndKilled(moment: Moment, requested: number, expected: readonly string[]): Promise<void> {
  expect(terms(await startedAgain({ soft: true }, moment, expected))).toBe(requested);
}
