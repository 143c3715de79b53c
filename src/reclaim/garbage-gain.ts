import type { RuntimeImage } from '../core/container-garbage.js';
import type { Collection } from '../core/layout.js';
import type { Gain, NamedGain } from './gain.js';

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
