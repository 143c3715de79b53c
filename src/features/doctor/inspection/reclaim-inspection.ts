import { existsSync } from 'node:fs';
import type { ReclaimStep } from '../../../core/reclaim/reclaim-step.js';
import type { ReclaimFacts } from '../machine-facts.js';
import type { Binding } from '../../../native/binding.js';
import { devicesOf } from '../../../native/filesystem-answer.js';
import { pathsOfStep, stepCommands } from '../../../core/reclaim/step-command.js';
import { FILESYSTEM_TIMEOUT_MS, type Timeouts } from '../../../node/timeouts.js';

const SYSTEMD = '/run/systemd/system';

/** @param isThere  whether a path exists */
export function reclaimFacts(steps: readonly ReclaimStep[], isThere: (path: string) => boolean): ReclaimFacts {
  return {
    steps: steps.map((step) => {
      const programs = programsOf(step, isThere);
      return { name: step.name, commands: programs.length, missing: programs.find((program) => !isThere(program)) };
    }),
    systemd: isThere(SYSTEMD),
  };
}

/** A path whose filesystem hangs counts as missing. */
export async function examineReclaim(
  steps: readonly ReclaimStep[],
  native: Binding | undefined,
  timeouts: Timeouts,
): Promise<ReclaimFacts> {
  if (native === undefined) return reclaimFacts(steps, existsSync);
  const paths = new Set(steps.flatMap((step) => [...pathsOfStep(step), ...programsOf(step, () => true)]).concat(SYSTEMD));
  const answers = await Promise.all([...paths].map((path) => timeouts.within(FILESYSTEM_TIMEOUT_MS, () => devicesOf(native, [path]))));
  const there = new Set(answers.flatMap((devices) => [...(devices?.keys() ?? [])]));
  return reclaimFacts(steps, (path) => there.has(path));
}

function programsOf(step: ReclaimStep, isThere: (path: string) => boolean): string[] {
  return stepCommands(step, isThere).flatMap(({ argv: [program] }) => program ?? []);
}
