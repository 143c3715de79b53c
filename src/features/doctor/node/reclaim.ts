import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ReclaimFacts } from '../facts/reclaim-facts.js';

const ID = 'reclaim.steps';

export function checkReclaim({ steps, systemd }: ReclaimFacts): Check[] {
  if (steps.length === 0) return [];
  const names = steps.map(({ name }) => name);
  const details = { steps: names, systemd };
  if (!systemd)
    return [degraded(ID, `${names.join(', ')}: needs systemd, which is not the init of this machine`, 'remove the key reclaim', details)];
  const without = steps.find(({ missing }) => missing !== undefined);
  if (without)
    return [degraded(ID, `${without.name}: ${String(without.missing)} does not exist`, 'install it, or remove the step', details)];
  const idle = steps.filter(({ commands }) => commands === 0).map(({ name }) => name);
  const rest = idle.length === 0 ? '' : ` (nothing here for ${idle.join(', ')})`;
  return [ok(ID, `${names.join(', ')}${rest}: evictd reclaim --dry-run estimates what they free`, details)];
}

export const reclaimCheck = defineCheck(ID, ['reclaim'], ({ reclaim }) => checkReclaim(reclaim));
