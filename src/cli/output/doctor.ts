import { worstOf, type Check, type CheckStatus } from '../../doctor/check.js';
import type { Colour, Style } from './style.js';

const COLOUR: Readonly<Record<CheckStatus, Colour>> = { ok: 'green', degraded: 'yellow', broken: 'red' };

const STATUSES = ['broken', 'degraded', 'ok'] as const satisfies readonly CheckStatus[];

const STATUS_WIDTH = Math.max(...STATUSES.map(({ length }) => length));

/** A line per check in groups, each fix below its check, and the overall status. */
export function doctorText(checks: readonly Check[], style: Style): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.flatMap((check, index) => {
    const isFirst = groupOf(check) !== groupOf(checks[index - 1]);
    return [...(isFirst && index > 0 ? [''] : []), ...linesOf(check, width, style)];
  });
  return `${[...lines, '', verdict(checks, style)].join('\n')}\n`;
}

export function doctorJson(checks: readonly Check[]): string {
  const listed = checks.map(({ id, status, summary, fix, details }) => ({
    id,
    status,
    summary,
    ...(fix !== undefined && { fix }),
    details,
  }));
  return `${JSON.stringify({ status: worstOf(checks), checks: listed }, undefined, 2)}\n`;
}

function linesOf({ id, status, summary, fix }: Check, width: number, style: Style): string[] {
  const margin = ' '.repeat(STATUS_WIDTH + 2 + width + 2);
  const line = `${style(COLOUR[status], status.padEnd(STATUS_WIDTH))}  ${id.padEnd(width)}  ${summary}`;
  return fix === undefined ? [line] : [line, `${margin}${style('dim', 'fix:')} ${fix}`];
}

/** 'workloads[0]' and 'workloads.evictable' are one group. */
function groupOf(check: Check | undefined): string | undefined {
  return check && /^\w+/.exec(check.id)?.[0];
}

/** 'broken: 1 broken, 2 degraded, 20 ok', then the broken checks again. */
function verdict(checks: readonly Check[], style: Style): string {
  const status = worstOf(checks);
  const counts = STATUSES.map((each) => `${String(checks.filter((check) => check.status === each).length)} ${each}`).join(', ');
  const worst = checks.filter((check) => check.status === 'broken').map(({ summary }) => `\n  ${style('red', summary)}`);
  return `${style(COLOUR[status], `${status}:`)} ${counts}${worst.join('')}`;
}
