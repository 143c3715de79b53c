import { degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { InstanceFacts, ReloadFacts } from '../../../host/facts/process-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';

const ID = 'service.configuration';

/** Whether the running evictd refused its configuration at the last reload. */
export function checkRunningConfiguration(instance: InstanceFacts, reload: ReloadFacts): Check[] {
  if (instance.kind !== 'running') return [];
  if (isUnseen(reload)) return [unseen(ID, 'result of the last reload', reload)];
  const { refused } = reload;
  if (refused === undefined) return [ok(ID, 'the running evictd has accepted its configuration', { refused: [] })];
  const [first = 'no reason given', ...others] = refused;
  const more = others.length === 0 ? '' : `; and ${String(others.length)} more`;
  const summary = `the running evictd refused its configuration and keeps the previous one: ${first}${more}`;
  return [degraded(ID, summary, 'correct it (evictd config check lists all errors), then evictd reload', { refused })];
}

export const runningConfigurationCheck = defineCheck(ID, ['instance', 'reload'], ({ instance, reload }) =>
  checkRunningConfiguration(instance, reload),
);
