import type { ConfigNotice, LoadedConfig } from './config.js';
import { UnavailableError, type SourcePosition } from '../errors.js';
import type { MachineFacts } from './lint/machine.js';
import { lintPolicy } from './lint/lint-rules.js';

/**
 * Lints a valid configuration. Each finding has the position of its key.
 *
 * @param machine  undefined: only findings that do not depend on the machine
 */
export function lintConfig({ config, origins }: LoadedConfig, machine: MachineFacts | undefined): ConfigNotice[] {
  const written = new Map([...origins].flatMap(([key, { value, origin }]) => (origin.kind === 'set' ? [[key, value] as const] : [])));
  return lintPolicy({ ...config, written }, machine).map(({ test, ...finding }) => {
    const position = positionOf(test === undefined ? finding.key : `${finding.key}[${String(test)}]`, origins);
    return position === undefined ? finding : { ...finding, position };
  });
}

/**
 * Warns if the node does not exist: `run` would not start.
 *
 * @param error  the error of readMachineFacts
 */
export function lintNode({ origins }: LoadedConfig, error: unknown): ConfigNotice[] {
  if (!(error instanceof UnavailableError) || error.code !== 'EVICTD_NODE_MISSING') return [];
  const position = positionOf('node.cgroup', origins);
  const { code, message, hint } = error;
  return [{ level: 'error', code, message, ...(hint !== undefined && { hint }), ...(position && { position }) }];
}

/**
 * The position of the key or item of a list, of the first key below it that is set, or of the key that it is copied from;
 * undefined: it has its default.
 */
function positionOf(key: string, origins: LoadedConfig['origins']): SourcePosition | undefined {
  for (const [written, { origin }] of origins) {
    const within = written === key || written.startsWith(`${key}.`) || written.startsWith(`${key}[`);
    if (within && origin.kind === 'set') return origin.position;
    if (within && origin.kind === 'copied') return positionOf(origin.from, origins);
  }
  const [, list = '', item = ''] = /^(.+)\[(\d+)\]$/.exec(key) ?? [];
  const origin = origins.get(list)?.origin;
  return origin?.kind === 'set' ? (origin.items?.[Number(item)] ?? origin.position) : undefined;
}
