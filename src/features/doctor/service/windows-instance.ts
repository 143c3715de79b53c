import { degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { InstanceFacts } from '../../../host/facts/process-facts.js';
import { dryRun } from './instance.js';

const ID = 'service.instance';

/** Whether an evictd guards this node. */
export function checkWindowsInstance(instance: InstanceFacts): Check {
  switch (instance.kind) {
    case 'unseen':
      return unseen(ID, 'whether an evictd guards this node', instance);
    case 'running':
      return ok(ID, `process ${String(instance.pid)} guards this node`, { pid: instance.pid });
    case 'none':
      if (instance.dryRun !== undefined) return dryRun(instance.dryRun, 'evictd run without --dry-run');
      return degraded(ID, 'no evictd guards this node now', 'evictd install --now, or evictd run', { pid: null });
  }
}

export const windowsInstanceCheck = defineCheck(ID, ['instance'], ({ instance }) => checkWindowsInstance(instance));
