import type { Effect } from '../../core/decide/effect.js';
import { alert } from './alert.js';
import { condition } from './condition.js';
import { error } from './error.js';
import { escalate } from './escalate.js';
import { evict } from './evict.js';
import type { EffectTable } from './handler.js';
import { drain, pause, resume, taint } from './operator.js';
import { outcome } from './outcome.js';
import { policy, policyEnd, policyResult } from './policy.js';
import { reclaim, reclaimed } from './reclaim.js';
import { release } from './release.js';
import { threshold } from './threshold.js';

/** Everything that a step can ask for. */
export const EFFECTS: EffectTable<Effect> = {
  attempt: {}, // the effects that follow it say what was done
  reclaim,
  reclaimed,
  evict,
  escalate,
  outcome,
  condition,
  threshold,
  alert,
  release,
  resume,
  pause,
  taint,
  drain,
  policy,
  'policy-result': policyResult,
  'policy-end': policyEnd,
  error,
};
