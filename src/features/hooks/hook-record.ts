import type { Decision } from '../../core/decide/eviction.js';
import type { HookName, HookResult } from '../../core/hook/hook.js';
import { victimName } from '../../core/workload/process.js';
import { victimOf } from '../../journal/records/ranking-row.js';
import type { JournalRecord } from '../../journal/records/record.js';

export interface HookRun {
  readonly hook: HookName;
  /** The command line, or the socket. */
  readonly target: string;
  readonly decision: Decision;
  readonly result: HookResult | 'would-run';
  /** Why it did not succeed. */
  readonly error?: string | undefined;
  readonly tookNs?: bigint;
}

export function hookRecord({ hook, target, decision, result, error, tookNs }: HookRun): JournalRecord {
  const { serial, victim } = decision;
  return {
    type: 'hook',
    hook,
    decision: serial,
    victim: victimOf(victim),
    target,
    result,
    ...(error === undefined ? {} : { error }),
    ...(tookNs === undefined ? {} : { tookMs: Math.round(Number(tookNs) / 1e3) / 1e3 }),
    message: hookMessage({ hook, target, decision, result, error }),
  };
}

function hookMessage({ hook, target, decision, result, error }: HookRun): string {
  const name = victimName(decision.victim);
  const named = `hook ${hook} (${target}) for ${name}`;
  switch (result) {
    case 'succeeded':
      return `${named} succeeded`;
    case 'failed':
      return `${named}: ${error ?? 'it failed'}`;
    case 'late':
      return `${named} was not over at its deadline: the eviction goes on without it`;
    case 'refused':
      return `${named} was not run: ${error ?? 'unknown'}`;
    case 'would-run':
      return `dry run: would run ${named}`;
  }
}
