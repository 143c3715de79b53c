import { degraded, ok, unseen, type Check } from './check.js';
import type { SubjectFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';
import type { WorkloadFacts } from './facts/workloads.js';

const ID = 'process.descriptors';

/** Half of the limit is for the workloads' files (native/reading.d.ts, CgroupTable); beyond it they are opened for each reading, which takes several times as long. */
const SHARE = 0.5;

export function checkDescriptors({ limits }: SubjectFacts, { listed, filesEach }: WorkloadFacts): Check {
  if (isUnseen(limits)) return unseen(ID, 'how many descriptors evictd may have', limits);
  const needed = listed.length * filesEach;
  const { openFiles } = limits;
  const details = { limit: openFiles === Infinity ? null : openFiles, needed };
  const said = `${String(openFiles)} descriptors, ${String(listed.length)} workloads take ${String(needed)}`;
  if (needed <= openFiles * SHARE) return ok(ID, said, details);
  const fix = `LimitNOFILE=${String(2 ** Math.ceil(Math.log2(4 * needed)))} in its unit, or ulimit -n`;
  return degraded(ID, `${said}, more than the half: the others are opened anew for each reading`, fix, details);
}
