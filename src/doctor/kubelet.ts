import { resolve, valueText } from '../core/threshold.js';
import { degraded, ok, type Check } from './check.js';
import type { DaemonFacts } from './facts/daemon.js';
import type { NodeFacts } from './facts/node.js';
import { hardMemoryLimit } from './memory-limit.js';
import { precedence } from './rival.js';

/** Who evicts first, evictd or the kubelet. The kubelet looks every 10 s, so that its own threshold alone says what it is late for. */
export function checkKubelet(id: string, who: string, { memory }: DaemonFacts, node: NodeFacts): Check {
  const capacity = node.capacities.get('memory.available');
  if (memory === undefined || capacity === undefined) {
    const fix = 'compare its evictionHard with that of evictd (kubectl get --raw /api/v1/nodes/NODE/proxy/configz)';
    return degraded(id, `${who}: at what it evicts cannot be told`, fix, { evictionHard: null });
  }
  const text = `memory.available<${valueText(memory.value)}`;
  const { isFirst, text: said } = precedence({ bytes: resolve(memory.value, capacity), text: `at ${text}` }, hardMemoryLimit(node));
  const details = { evictionHard: text, isFirst };
  if (!isFirst) return ok(id, `${who}: ${said}`, details);
  return degraded(
    id,
    `${who}: ${said}: two evict for one shortage`,
    `a higher evictionHard.memory.available for evictd than ${valueText(memory.value)}, or a lower one for the kubelet`,
    details,
  );
}
