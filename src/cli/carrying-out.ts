import type { Machine } from '../install/machine.js';
import { take, type InstallStep } from '../install/step.js';
import type { Io } from './io.js';
import { stepLine, stepsJson } from './output/installation.js';

export interface Manner {
  readonly dryRun: boolean;
  readonly output: 'text' | 'json';
  /** What is left to do for whoever asked. */
  readonly next?: readonly string[];
  /** What is said where nothing was done. */
  readonly nothing: string;
}

/**
 * Takes steps. In text each is said when it is done: where one fails, those before it are known.
 *
 * @returns the exit code: 1 where something is still owed
 */
export async function carryOut(
  io: Io,
  steps: Iterable<InstallStep> | AsyncIterable<InstallStep>,
  { systemctl }: Pick<Machine, 'systemctl'>,
  { dryRun, output, next = [], nothing }: Manner,
): Promise<0 | 1> {
  if (dryRun && output === 'text') io.stdout('dry run: nothing is touched\n');
  const taken: InstallStep[] = [];
  for await (const step of steps) {
    if (!dryRun) take(step, systemctl);
    if (output === 'text') io.stdout(`${stepLine(step)}\n`);
    taken.push(step);
  }
  const isOwed = taken.some((step) => step.action === 'keep' && step.owed === true);
  if (output === 'json') io.stdout(stepsJson(taken, { dryRun, next }));
  else if (!isOwed && taken.every(({ action }) => action === 'keep')) io.stdout(`${nothing}\n`);
  else if (next.length > 0) io.stdout(`\n${next.map((line) => `${line}\n`).join('')}`);
  return isOwed ? 1 : 0;
}
