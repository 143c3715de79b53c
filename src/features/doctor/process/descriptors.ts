import { degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { SubjectFacts } from '../../../host/facts/process-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';
import type { WorkloadFacts } from '../facts/workload-facts.js';

const ID = 'process.descriptors';

/**
 * The share of the limit for workloads (native/reading.d.ts, CgroupTable). Beyond it evictd opens the files for each
 * reading, which takes several times as long.
 */
const SHARE = 0.5;

export function checkDescriptors({ limits }: SubjectFacts, { listed, filesEach }: WorkloadFacts): Check {
  if (isUnseen(limits)) return unseen(ID, 'limit of open files', limits);
  const needed = listed.length * filesEach;
  const { openFiles } = limits;
  const details = { limit: openFiles === Infinity ? null : openFiles, needed };
  const limit = openFiles === Infinity ? 'none' : String(openFiles);
  const summary = `limit of open files: ${limit}; ${String(listed.length)} workloads need ${String(needed)}`;
  if (needed <= openFiles * SHARE) return ok(ID, summary, details);
  const fix = `set LimitNOFILE=${String(2 ** Math.ceil(Math.log2(4 * needed)))} in its unit, or ulimit -n`;
  return degraded(ID, `${summary}, more than half: evictd opens the others for each reading`, fix, details);
}

export const descriptorsCheck = defineCheck(ID, ['subject', 'workloads'], ({ subject, workloads }) => checkDescriptors(subject, workloads));
