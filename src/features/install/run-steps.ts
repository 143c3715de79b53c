import type { Machine } from './install-machine.js';
import { take, type InstallStep } from './install-step.js';
import type { Io } from '../../cli/output/io.js';
import { stepLine, stepsJson } from './install-output.js';

export interface StepOptions {
  readonly dryRun: boolean;
  readonly output: 'text' | 'json';
  /** Steps that remain for the operator. */
  readonly next?: readonly string[];
  /** Printed if no step changed anything. */
  readonly nothing: string;
}

/**
 * Performs the steps. Text output lists each step once it is done, so that those before a failure are known.
 *
 * @returns the exit code: 1 if a step could not undo everything
 */
export async function runSteps(
  io: Io,
  steps: Iterable<InstallStep> | AsyncIterable<InstallStep>,
  { systemctl }: Pick<Machine, 'systemctl'>,
  { dryRun, output, next = [], nothing }: StepOptions,
): Promise<0 | 1> {
  if (dryRun && output === 'text') io.stdout('dry run: nothing is changed\n');
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
