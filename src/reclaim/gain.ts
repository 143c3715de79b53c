import type { ReclaimStep } from '../core/reclaim-step.js';
import { stepCommands } from './step-command.js';
import type { RuntimeImage } from '../core/container-garbage.js';
import type { Collection } from '../core/layout.js';

/** What carrying a step out would give back now. */
export interface Gain {
  /** undefined: that is not known. */
  readonly bytes: bigint | undefined;
  /** How many of `unit`; undefined: that is not known. */
  readonly count: bigint | undefined;
  readonly unit: 'file' | 'container' | 'image';
  /** What would be run, or asked for, a command an entry; empty: nothing on this machine. */
  readonly commands: readonly (readonly string[])[];
  /** Why not all of it could be found out. */
  readonly error: string | undefined;
}

/** By the name of a step, or of what container runtimes collect. */
export interface NamedGain {
  readonly name: string;
  readonly gain: Gain;
}

const BLOCK_BYTES = 512n;

/** @param find  runs find(1) with these arguments; its output is the blocks of a file in each line */
export async function gainOf(
  step: ReclaimStep,
  isThere: (path: string) => boolean,
  find: (found: readonly string[]) => Promise<{ readonly output: string; readonly error: string | undefined }>,
): Promise<Gain> {
  const commands = stepCommands(step, isThere);
  const argvs = commands.map(({ argv }) => argv);
  const errors: string[] = [];
  let bytes = 0n;
  let count: bigint | undefined = 0n;
  for (const { found, keptBytes } of commands) {
    if (found === undefined) return { bytes: undefined, count: undefined, unit: 'file', commands: argvs, error: undefined };
    const { output, error } = await find(found);
    if (error !== undefined) errors.push(error);
    const blocks = output.split('\n').filter((line) => line !== '');
    const foundBytes = blocks.reduce((sum, each) => sum + BigInt(each), 0n) * BLOCK_BYTES;
    bytes += foundBytes > keptBytes ? foundBytes - keptBytes : 0n;
    // Which of them would be kept is not known.
    count = keptBytes > 0n || count === undefined ? undefined : count + BigInt(blocks.length);
  }
  return { bytes, count, unit: 'file', commands: argvs, error: errors.length > 0 ? errors.join('; ') : undefined };
}

/** What a container runtime has that nobody needs, or why it does not tell. */
export type RuntimeGarbage = { readonly endpoint: string } & (
  { readonly garbage: { readonly containers: readonly string[]; readonly images: readonly RuntimeImage[] } } | { readonly error: string }
);

/** Nothing where there is no runtime. What a container has written is not asked for; images share layers, so that less than their sizes may come back. */
export function garbageGains(runtimes: readonly RuntimeGarbage[]): readonly NamedGain[] {
  if (runtimes.length === 0) return [];
  const errors = runtimes.flatMap((runtime) => ('error' in runtime ? [`${runtime.endpoint}: ${runtime.error}`] : []));
  const error = errors.length > 0 ? errors.join('; ') : undefined;
  const found = runtimes.flatMap((runtime) => ('garbage' in runtime ? [runtime.garbage] : []));
  const containers = found.flatMap((garbage) => garbage.containers);
  const images = found.flatMap((garbage) => garbage.images);
  const bytes = images.reduce((sum, { size }) => sum + BigInt(size), 0n);
  const gain = (name: Collection, unit: Gain['unit'], known: bigint | undefined, count: number, call: string): NamedGain => ({
    name,
    gain: {
      bytes: count === 0 ? 0n : known,
      count: BigInt(count),
      unit,
      commands: runtimes.map(({ endpoint }) => [call, endpoint]),
      error,
    },
  });
  return [
    gain('containers', 'container', undefined, containers.length, 'RemoveContainer'),
    gain('images', 'image', bytes, images.length, 'RemoveImage'),
  ];
}
