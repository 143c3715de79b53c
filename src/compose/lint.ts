import type { ConfigNotice, LoadedConfig } from '../config/config.js';
import type { SourcePosition } from '../errors.js';
import type { MachineFacts } from '../lint/machine.js';
import { lintPolicy } from '../lint/policy.js';

/**
 * What a valid configuration will not do though it looks like it, each with the place where it was written.
 *
 * @param machine  undefined: only what is so on every machine
 */
export function lintConfig({ config, origins }: LoadedConfig, machine: MachineFacts | undefined): ConfigNotice[] {
  const written = new Map([...origins].flatMap(([key, { value, origin }]) => (origin.kind === 'set' ? [[key, value] as const] : [])));
  return lintPolicy({ ...config, written }, machine).map(({ key, ...finding }) => {
    const position = positionOf(key, origins);
    return position === undefined ? finding : { ...finding, position };
  });
}

/** Of the key, or of the first below it that was written; undefined: it is as it is by default. */
function positionOf(key: string, origins: LoadedConfig['origins']): SourcePosition | undefined {
  for (const [written, { origin }] of origins) {
    const within = written === key || written.startsWith(`${key}.`) || written.startsWith(`${key}[`);
    if (within && origin.kind === 'set') return origin.position;
  }
  return undefined;
}
