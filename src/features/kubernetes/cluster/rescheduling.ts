import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import { printable } from '../../../core/name/printable.js';
import { EvictdError } from '../../../errors.js';
import type { CouldRun, CouldRunParts } from './could-run.js';

/** The node on which a pod could run now; or why that is not known. */
export type Rescheduling = CouldRun | Unknown;
export interface Unknown {
  readonly unknown: string;
  /** The code of the error. */
  readonly code: string;
}

/** The timeout for the lists of the API server; the placement takes less than a second. */
const WITHIN_MS = 8_000;

/**
 * The places where pods of the API server that may be evicted could run. The scheduler and the lists are a bundle of their own.
 *
 * @returns by what was asked for; undefined: no API server is configured
 */
export async function forecastRescheduling(
  config: KubernetesConfig | undefined,
  asked: Omit<CouldRunParts, 'config' | 'env' | 'withinMs'>,
  withinMs = WITHIN_MS,
): Promise<ReadonlyMap<string, CouldRun> | Unknown | undefined> {
  if (config === undefined || asked.pods.length === 0) return undefined;
  try {
    const { couldRun } = await import('./could-run.js');
    return await couldRun({ ...asked, config, env: process.env, withinMs });
  } catch (error) {
    if (!(error instanceof EvictdError)) throw error;
    return { code: error.code, unknown: `${error.message}${error.hint === undefined ? '' : ` (${error.hint})`}` };
  }
}

/** The number of nodes that are named, of those that fit and of the others. */
const NAMED = 3;

export function reschedulingText(found: Rescheduling): string {
  return `${linesOf(found).map(printable).join('\n')}\n`;
}

/**
 * Lines for a list of pods.
 *
 * @param names  by what was asked for; left out: that is the name
 */
export function placesLines(
  found: ReadonlyMap<string, CouldRun> | Unknown | undefined,
  names: ReadonlyMap<string, string> = new Map<string, string>(),
): readonly string[] {
  if (found === undefined) return [];
  if ('unknown' in found) return [printable(unknownText(found))];
  const lines = [...found].map(([asked, own]) => {
    return `${names.get(asked) ?? asked} ${placesText(own)}${own.isControlled ? '' : `; ${NOT_CONTROLLED}`}`;
  });
  const [unread = []] = [...found.values()].map((each) => each.unread);
  return [...lines, ...unread.map((each) => `could run now: without ${each}`)].map(printable);
}

const NOT_CONTROLLED = 'no controller recreates it';

function unknownText({ unknown }: Unknown): string {
  return `could run now: not known: ${unknown}`;
}

function placesText({ nodes, of, message }: CouldRun): string {
  const best = nodes.slice(0, NAMED).map(({ node, score }) => `${node} (score ${String(score)})`);
  const others = nodes.length - best.length;
  const more = others === 0 ? '' : ` and ${String(others)} more`;
  if (nodes.length === 0) return `could run now: nowhere: ${message}`;
  return `could run now: ${best.join(', ')}${more}; ${String(nodes.length)} of ${String(of)} nodes fit`;
}

function linesOf(found: Rescheduling): readonly string[] {
  if ('unknown' in found) return [unknownText(found)];
  const { rejected, isControlled, unread } = found;
  const left = rejected.length - NAMED;
  return [
    placesText(found),
    ...rejected.slice(0, NAMED).map(({ node, reasons }) => `  not ${node}: ${reasons.join(', ')}`),
    ...(left > 0 ? [`  nor ${String(left)} more`] : []),
    ...(isControlled ? [] : [`  ${NOT_CONTROLLED}`]),
    ...unread.map((each) => `  without ${each}`),
  ];
}
