import { checkAdmit } from './admit.js';
import { checkDuration } from './duration.js';
import { checkEvictionApi } from './eviction_api.js';
import { checkMemcg } from './memcg.js';
import { checkOomScoreAdj } from './oom_score_adj.js';
import { checkQuantity } from './quantity.js';
import { checkRank } from './rank.js';
import { checkSchedulerFilterScore } from './scheduler_filter_score.js';
import { checkSchedulerPreempt } from './scheduler_preempt.js';
import { checkShutdown } from './shutdown.js';
import { checkSignals } from './signals.js';
import { checkSync } from './sync.js';
import { checkPreemption } from './preemption.js';
import { checkQosRequests } from './qos_requests.js';
import { checkTaints } from './taints.js';
import { checkThresholds } from './thresholds.js';
import type { Check } from './vector.js';

/** What can be checked: the name of a vector file without .jsonl → its check. */
export const AREAS: ReadonlyMap<string, Check> = new Map([
  ['quantity', checkQuantity],
  ['duration', checkDuration],
  ['thresholds', checkThresholds],
  ['admit', checkAdmit],
  ['signals', checkSignals],
  ['memcg', checkMemcg],
  ['oom_score_adj', checkOomScoreAdj],
  ['rank', checkRank],
  ['sync', checkSync],
  ['shutdown', checkShutdown],
  ['taints', checkTaints],
  ['qos_requests', checkQosRequests],
  ['preemption', checkPreemption],
  ['eviction_api', checkEvictionApi],
  ['scheduler_filter_score', checkSchedulerFilterScore],
  ['scheduler_preempt', checkSchedulerPreempt],
]);
