import { amountOfBytes } from '../quantity/amount.js';
import { formatDuration } from '../quantity/duration.js';
import type { ThrottleLimit } from '../policy/configured-policy.js';
import type { LiftReason, LadderEnd, LadderEnded, PolicyEffect, PolicyResult } from '../policy/policy-action.js';
import type { PolicyReason } from '../policy/policy-reason.js';
import { victimName } from '../workload/process.js';

/** 'policy protect on /user.slice/a: memory.pressure.full > 40% (memory.pressure.full 45.2%)'. */
export function policyReasonText(reason: Omit<PolicyReason, 'values'>): string {
  return `${policyName(reason)}: ${reason.condition}${reason.readings === undefined ? '' : ` (${reason.readings})`}`;
}

/** 'policy protect on /user.slice/a', 'policy protect' for the node. */
function policyName({ policy, scope }: Pick<PolicyReason, 'policy' | 'scope'>): string {
  return scope === '' ? `policy ${policy}` : `policy ${policy} on ${scope}`;
}

/** 'throttling db for 30s, memory.high to its usage: policy protect: memory.available < 15% (memory.available 1.2GiB)'. */
export function policyMessage(effect: PolicyEffect): string {
  const dry = effect.dryRun;
  switch (effect.action) {
    case 'notify':
      return `${dry ? 'dry run: ' : ''}${policyReasonText(effect)}`;
    case 'run':
      return `${dry ? 'dry run: would run' : 'running'} ${effect.command.join(' ')}: ${policyReasonText(effect)}`;
    case 'reclaim': {
      const names = effect.targets.map(({ name }) => name).join(', ');
      const what = `${amountOfBytes(effect.memoryBytes)} of ${names} within ${formatDuration(effect.withinNs)}`;
      return `${dry ? 'dry run: would reclaim' : 'reclaiming'} ${what}: ${policyReasonText(effect)}`;
    }
    case 'throttle': {
      const what = `${effect.target.name} for ${formatDuration(effect.forNs)}, memory.high to ${limitText(effect.memoryHigh)}`;
      return `${dry ? 'dry run: would throttle' : 'throttling'} ${what}: ${policyReasonText(effect)}`;
    }
    case 'freeze': {
      const what = `${effect.target.name} for ${formatDuration(effect.forNs)}`;
      return `${dry ? 'dry run: would freeze' : 'freezing'} ${what}: ${policyReasonText(effect)}`;
    }
    case 'unthrottle':
      return `restored memory.high of ${effect.target.name}: ${REASONS[effect.reason]} (${policyName(effect)})`;
    case 'thaw':
      return `thawing ${effect.target.name}: ${REASONS[effect.reason]} (${policyName(effect)})`;
  }
}

function limitText(limit: ThrottleLimit): string {
  switch (limit.kind) {
    case 'usage':
      return 'its usage';
    case 'quantity':
      return amountOfBytes(limit.bytes);
    case 'share':
      return `${String(Math.round(limit.ratio * 10_000) / 100)}% of its usage`;
  }
}

const REASONS: Readonly<Record<LiftReason | LadderEnd, string>> = {
  time: 'the time of the step is over',
  relieved: 'the condition does not hold any more',
  exhausted: 'its last step is over, and the condition still holds',
  unknown: 'it is not known whether the condition holds',
  'policy-removed': 'the configuration has no such policy any more',
  'scope-gone': 'the cgroup of the scope was removed',
  shutdown: 'the machine shuts down',
  paused: 'an operator has paused evictions',
  'no-progress': 'it only waits for memory, and frees almost none',
  evicted: 'it is evicted',
};

/** 'policy protect on /user.slice/a: reclaim done: freed 120MiB', 'policy protect: kill refused: …'. */
export function policyResultMessage(of: PolicyResult): string {
  const { action, result, target, freedBytes, error } = of;
  const what = target === undefined ? action : `${action} of ${victimName({ ...target, workload: target })}`;
  const outcome = result === 'dry-run' ? 'not done, because this is a dry run' : result;
  const more = error ?? (freedBytes === undefined ? undefined : `freed ${amountOfBytes(freedBytes)}`);
  return `${policyName(of)}: ${what} ${outcome}${more === undefined ? '' : `: ${more}`}`;
}

/** 'policy protect on /user.slice/a ends after throttle, 12s: the condition does not hold any more; memory.available rose by 300MiB'. */
export function policyEndMessage(of: LadderEnded): string {
  const { reason, steps, tookNs, gainedBytes } = of;
  const verb = gainedBytes !== undefined && gainedBytes < 0n ? 'fell' : 'rose';
  const size = gainedBytes !== undefined && gainedBytes < 0n ? -gainedBytes : gainedBytes;
  const gained = size === undefined ? '' : `; memory.available ${verb} by ${amountOfBytes(size)}`;
  const took = formatDuration((tookNs / 1_000_000n) * 1_000_000n);
  return `${policyName(of)} ends after ${steps.at(-1)?.action ?? ''}, ${took}: ${REASONS[reason]}${gained}`;
}
