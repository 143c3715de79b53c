import { readFileSync, rmSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { Evictd, scratchDirectory, victimOf, type JournalLine } from './evictd.js';
import { dyingAt, type Moment } from './mortal.js';
import { ABOVE_128_MIB, guarding, testNode, workload, type Workload, type WorkloadPlan } from './node.js';
import { SLOWNESS } from '../support/slowness.js';
import type { TestCgroup } from '../support/cgroup.js';
import { aWhile, until } from './wait.js';

export const batchFirst = [{ match: { name: 'batch' }, priority: -1 }];

function scratch(): string {
  const directory = scratchDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** From SIGTERM to SIGKILL: long enough for evictd to be started again meanwhile, which takes an emulated machine up to 40 s where others run beside it. */
export const GRACE_S = SLOWNESS > 1 ? 60 : 3;

/** Soft above 128 MiB at once. */
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

/** Two workloads on a node, of which `batch` takes too much when it is told to. */
export async function setting(onTerm?: WorkloadPlan['onTerm']) {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, ...(onTerm && { onTerm }) });
  const web = await workload(node.child('web'), { holdsMib: 10 });
  return { node, batch, web, directory: scratch() };
}

/** What came of each decision, by its number: every one has exactly one outcome. */
function results(journal: readonly JournalLine[]): string[] {
  const decisions = journal.filter(({ type }) => type === 'decision').map(({ decision }) => decision);
  const outcomes = journal.filter(({ type }) => type === 'outcome');
  expect(outcomes.map(({ decision }) => decision).sort()).toEqual(decisions);
  expect(new Set(decisions).size).toBe(decisions.length);
  return decisions.map((number) => String(outcomes.find(({ decision }) => decision === number)?.result));
}

/** Nobody else was ever meant, and no line stands there twice. */
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

/** It has got SIGTERM, and evictd has written that down: who kills evictd before that finds it told a second time. */
export async function toldToEnd(batch: Workload, node: TestCgroup, runtimeDirectory: string): Promise<void> {
  const state = `${runtimeDirectory}/cgroup-${encodeURIComponent(node.path)}.state`;
  await until('batch was told to end', () => terms(batch) === 1 && readFileSync(state, 'latin1').includes('"sent":"signalNs"'));
}

const outcomes = (evictd: Evictd): JournalLine[] => evictd.journal().filter(({ type }) => type === 'outcome');

/** Kills evictd at a moment of the eviction of `batch`, starts it again, and sees that the journal tells the truth: `results` of the decisions, in order. */
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

/** A hard threshold: SIGKILL at once. */
export async function hardAndKilled(moment: Moment, expected: readonly string[]): Promise<void> {
  await startedAgain({ soft: false }, moment, expected);
}

/** A soft one, and a victim that ignores SIGTERM; `asked`: how often it got that. */
export async function softAndKilled(moment: Moment, asked: number, expected: readonly string[]): Promise<void> {
  expect(terms(await startedAgain({ soft: true }, moment, expected))).toBe(asked);
}
