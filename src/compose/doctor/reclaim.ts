import { existsSync } from 'node:fs';
import type { ReclaimStep } from '../../core/reclaim-step.js';
import type { ReclaimFacts } from '../../doctor/facts/reclaim.js';
import type { Binding } from '../../native/binding.js';
import { devicesOf } from '../../native/filesystem-answer.js';
import { pathsOfStep, stepCommands } from '../../reclaim/step-command.js';
import { FILESYSTEM_PATIENCE_MS, type Patience } from './deadline.js';

const SYSTEMD = '/run/systemd/system';

/** @param isThere  whether a path is */
export function reclaimFacts(steps: readonly ReclaimStep[], isThere: (path: string) => boolean): ReclaimFacts {
  return {
    steps: steps.map((step) => {
      const programs = programsOf(step, isThere);
      return { name: step.name, commands: programs.length, missing: programs.find((program) => !isThere(program)) };
    }),
    systemd: isThere(SYSTEMD),
  };
}

/** What a filesystem that hangs is asked for is not there. */
export async function examineReclaim(
  steps: readonly ReclaimStep[],
  native: Binding | undefined,
  patience: Patience,
): Promise<ReclaimFacts> {
  if (native === undefined) return reclaimFacts(steps, existsSync);
  const asked = new Set(steps.flatMap((step) => [...pathsOfStep(step), ...programsOf(step, () => true)]).concat(SYSTEMD));
  const answers = await Promise.all([...asked].map((path) => patience.within(FILESYSTEM_PATIENCE_MS, () => devicesOf(native, [path]))));
  const there = new Set(answers.flatMap((devices) => [...(devices?.keys() ?? [])]));
  return reclaimFacts(steps, (path) => there.has(path));
}

function programsOf(step: ReclaimStep, isThere: (path: string) => boolean): string[] {
  return stepCommands(step, isThere).flatMap(({ argv: [program] }) => program ?? []);
}
