import type { Rejection } from '../scheduling/filters/pod-filter.js';
import { errorOf } from '../scheduling/placement.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { totalScore } from '../scheduling/scores/node-scores.js';
import type { ScoreTable } from './timeline-event.js';

/** What the scheduler says of one node for one pod. */
export type ExplainedNode =
  | { readonly node: string; readonly rejections: readonly Rejection[] }
  | { readonly node: string; readonly total: number; readonly scores: ScoreTable };

/** Every filter and score of every node: feasible nodes first, the best of them first. */
export function explain(scheduler: Scheduler, pod: SchedulerPod): readonly ExplainedNode[] {
  const { scores = new Map<string, ScoreTable>(), rejected } = scheduler.schedule(pod, { everyNode: true });
  const error = errorOf({ rejected });
  const rejections = scheduler.rejectionsOf(pod);
  const feasible = [...scores].map(([node, of]) => ({ node, total: totalScore(of), scores: of }));
  const others = [...rejections].flatMap(([node, own]) => {
    if (scores.has(node)) return [];
    return [{ node, rejections: own.length > 0 || error === undefined ? own : [error] }];
  });
  return [...feasible.sort((one, other) => other.total - one.total), ...others];
}
