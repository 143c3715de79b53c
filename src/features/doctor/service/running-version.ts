import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { InstanceFacts } from '../../../host/facts/process-facts.js';

const ID = 'service.version';

/** Whether the running evictd has the version of this program. */
export function checkRunningVersion(instance: InstanceFacts, version: string): Check[] {
  if (instance.kind !== 'running' || instance.version === undefined) return [];
  const details = { running: instance.version, installed: version };
  if (instance.version === version) return [ok(ID, `the running evictd has this version, ${version}`, details)];
  const summary = `the running evictd has version ${instance.version}, this program has ${version}`;
  return [degraded(ID, summary, 'systemctl restart evictd', details)];
}

export const runningVersionCheck = defineCheck(ID, ['instance', 'version'], ({ instance, version }) =>
  checkRunningVersion(instance, version),
);
