import { degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { InstanceFacts, ServiceFacts } from '../../../host/facts/process-facts.js';

const ID = 'service.instance';

/** Whether an evictd guards this node. */
export function checkInstance(instance: InstanceFacts, service: ServiceFacts): Check {
  if (instance.kind === 'unseen') return unseen(ID, 'whether an evictd guards this node', instance);
  if (instance.kind === 'running') return ok(ID, `process ${String(instance.pid)} guards this node`, { pid: instance.pid });
  const isActive = service.kind === 'unit' && service.properties.ActiveState === 'active';
  if (instance.dryRun !== undefined) {
    const fix = isActive
      ? 'remove --dry-run from RUN_OPTIONS (systemctl cat evictd shows the file), then systemctl daemon-reload && systemctl restart evictd'
      : 'evictd run without --dry-run';
    return dryRun(instance.dryRun, fix);
  }
  if (isActive) {
    const summary = 'evictd.service is active, but guards another node than this configuration names, or uses another runtime directory';
    return degraded(ID, summary, 'run doctor with the configuration of the service (systemctl cat evictd)', { pid: null });
  }
  return degraded(ID, 'no evictd guards this node now', 'systemctl start evictd, or evictd run', { pid: null });
}

export function dryRun(pid: number, fix: string): Check {
  return degraded(ID, `process ${String(pid)} is a dry run: it evicts nothing`, fix, { pid: null, dryRun: pid });
}

export const instanceCheck = defineCheck(ID, ['instance', 'service'], ({ instance, service }) => checkInstance(instance, service));
