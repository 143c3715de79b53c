import { broken, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { RuntimeFacts } from '../../../host/facts/process-facts.js';

const ID = 'process.node';

/** package.json, engines. */
const OLDEST = [20, 19] as const;

export function checkNodeVersion({ node, arch }: Pick<RuntimeFacts, 'node' | 'arch'>): Check {
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const details = { node, arch };
  if (isNew) return ok(ID, `Node ${node} on ${arch}`, details);
  return broken(ID, `Node ${node} is older than ${OLDEST.join('.')}`, `install Node ${OLDEST.join('.')} or later`, details);
}

export const nodeVersionCheck = defineCheck(ID, ['runtime'], ({ runtime }) => checkNodeVersion(runtime));
