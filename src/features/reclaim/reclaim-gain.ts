import type { ReclaimStep } from '../../core/reclaim/reclaim-step.js';
import { stepCommands } from '../../core/reclaim/step-command.js';
import type { RuntimeImage } from '../../core/disk/container-garbage.js';
import type { Collection } from '../../core/signal/layout.js';

/** What a step would free now. */
export interface Gain {
  /** undefined: unknown. */
  readonly bytes: bigint | undefined;
  /** The number of `unit`; undefined: unknown. */
  readonly count: bigint | undefined;
  readonly unit: 'file' | 'container' | 'image';
  /** The commands or calls, one an entry; empty: the step does nothing on this machine. */
  readonly commands: readonly (readonly string[])[];
  /** Why the values are incomplete. */
  readonly error: string | undefined;
}

/** The gain with the name of a step, or of a collection of container runtimes. */
export interface NamedGain {
  readonly name: string;
  readonly gain: Gain;
}

const BLOCK_BYTES = 512n;

/** @param find  runs find(1) with these arguments; each line of the output is the number of blocks of a file */
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
    // Which files would be kept is unknown.
    count = keptBytes > 0n || count === undefined ? undefined : count + BigInt(blocks.length);
  }
  return { bytes, count, unit: 'file', commands: argvs, error: errors.length > 0 ? errors.join('; ') : undefined };
}

/** What a container runtime could remove, or why that is unknown. */
type RuntimeGarbage = { readonly endpoint: string } & (
  | { readonly garbage: { readonly containers: readonly string[]; readonly images: readonly RuntimeImage[] } }
  | { readonly error: string }
);

/**
 * Empty without runtimes. The size of container layers is unknown; images share layers, so removal may free less than
 * their sizes.
 */
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
