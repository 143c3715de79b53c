import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { SubjectFacts } from '../../../host/facts/process-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';

const ID = 'service.oom-score-adj';

/** The kernel subtracts 90 % of all memory from the score, so almost every other process comes first. */
const SAFE = -900;

/** Only of a running evictd: that of this process means nothing. */
export function checkOomScoreAdj({ kind, oomScoreAdj }: SubjectFacts): Check[] {
  if (kind === 'this process' || isUnseen(oomScoreAdj)) return [];
  const details = { oomScoreAdj };
  if (oomScoreAdj <= SAFE) return [ok(ID, `oom_score_adj is ${String(oomScoreAdj)}`, details)];
  const summary = `oom_score_adj is ${String(oomScoreAdj)}: the kernel's OOM killer may kill evictd`;
  return [degraded(ID, summary, 'set OOMScoreAdjust=-999 in its unit, as evictd install does', details)];
}

export const oomScoreAdjCheck = defineCheck(ID, ['subject'], ({ subject }) => checkOomScoreAdj(subject));
