import type { ConfigNotice, LoadedConfig } from '../config/config.js';
import { UnavailableError, type SourcePosition } from '../errors.js';
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

/**
 * A node that is not there, where that is why a machine could not be asked: `run` would not start on it.
 *
 * @param error  of readMachineFacts
 */
export function lintNode({ origins }: LoadedConfig, error: unknown): ConfigNotice[] {
  if (!(error instanceof UnavailableError) || error.code !== 'EVICTD_NODE_MISSING') return [];
  const position = positionOf('node.cgroup', origins);
  const { code, message, hint } = error;
  return [{ level: 'warn', code, message, ...(hint !== undefined && { hint }), ...(position && { position }) }];
}

/** Of the key, of the first below it that was written, or of what it is a copy of; undefined: it is as it is by default. */
function positionOf(key: string, origins: LoadedConfig['origins']): SourcePosition | undefined {
  for (const [written, { origin }] of origins) {
    const within = written === key || written.startsWith(`${key}.`) || written.startsWith(`${key}[`);
    if (within && origin.kind === 'set') return origin.position;
    if (within && origin.kind === 'copied') return positionOf(origin.from, origins);
  }
  return undefined;
}
