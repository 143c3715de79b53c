import type { Config } from '../../config/config.js';
import { printable } from '../../core/name/printable.js';
import { EvictdError } from '../../errors.js';
import type { CouldRun } from '../kubernetes/cluster/could-run.js';
import type { WorkloadExplanation } from './explanation.js';

/** Where a pod could run now; or why that is not known. */
export type Elsewhere = CouldRun | { readonly unknown: string };

/** For the lists of the API server; the placement takes less than a second. */
const WITHIN_MS = 8_000;

/**
 * For a pod of the API server that may be evicted. The scheduler and the lists are a bundle of their own.
 *
 * @returns undefined: it is none, or no API server is configured
 */
export async function elsewhere(
  { kubernetes }: Pick<Config, 'kubernetes'>,
  { name, path, protection }: Pick<WorkloadExplanation, 'name' | 'path' | 'protection'>,
  withinMs = WITHIN_MS,
): Promise<Elsewhere | undefined> {
  if (kubernetes === undefined || protection !== null || !path.includes('kubepods')) return undefined;
  try {
    const { couldRun } = await import('../kubernetes/cluster/could-run.js');
    return await couldRun({ config: kubernetes, env: process.env, pod: name, withinMs });
  } catch (error) {
    if (!(error instanceof EvictdError)) throw error;
    const who = error.code === 'EVICTD_KUBERNETES_UNREACHABLE' ? 'the API server: ' : '';
    return { unknown: `${who}${error.message}${error.hint === undefined ? '' : ` (${error.hint})`}` };
  }
}

/** So many nodes are named, of those that fit and of the others. */
const NAMED = 3;

export function elsewhereText(found: Elsewhere): string {
  return `${linesOf(found).map(printable).join('\n')}\n`;
}

function linesOf(found: Elsewhere): readonly string[] {
  if ('unknown' in found) return [`could run now: not known: ${found.unknown}`];
  const { nodes, rejected, of, message, isControlled, unread } = found;
  const best = nodes.slice(0, NAMED).map(({ node, score }) => `${node} (score ${String(score)})`);
  const others = nodes.length - best.length;
  const more = others === 0 ? '' : ` and ${String(others)} more`;
  const left = rejected.length - NAMED;
  return [
    nodes.length === 0
      ? `could run now: nowhere: ${message}`
      : `could run now: ${best.join(', ')}${more}; ${String(nodes.length)} of ${String(of)} nodes fit`,
    ...rejected.slice(0, NAMED).map(({ node, reasons }) => `  not ${node}: ${reasons.join(', ')}`),
    ...(left > 0 ? [`  nor ${String(left)} more`] : []),
    ...(isControlled ? [] : ['  no controller makes it again']),
    ...unread.map((each) => `  without ${each}`),
  ];
}
