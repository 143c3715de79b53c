import { degraded, ok, type Check } from './check.js';
import type { SubjectFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';

const ID = 'service.oom-score-adj';

/** From here on the kernel takes almost anybody else first: it counts as 90 % of all memory less. */
const SAFE = -900;

/** Whether the kernel's OOM killer leaves evictd alone. Of this process it says nothing. */
export function checkOomScoreAdj({ kind, oomScoreAdj }: SubjectFacts): Check[] {
  if (kind === 'this process' || isUnseen(oomScoreAdj)) return [];
  const details = { oomScoreAdj };
  if (oomScoreAdj <= SAFE) return [ok(ID, `oom_score_adj is ${String(oomScoreAdj)}`, details)];
  const said = `oom_score_adj is ${String(oomScoreAdj)}: the kernel's OOM killer may take evictd`;
  return [degraded(ID, said, 'OOMScoreAdjust=-999 in its unit (evictd install has it)', details)];
}
