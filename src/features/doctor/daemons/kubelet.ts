import { resolve, valueText } from '../../../core/threshold/threshold.js';
import { degraded, ok, type Check } from '../check.js';
import type { DaemonFacts } from '../../../host/facts/daemon-facts.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { hardMemoryLimit } from '../kernel/memory-limit.js';
import { precedence } from './precedence.js';

/** Whether the kubelet evicts before evictd. */
export function checkKubelet(id: string, process: string, { memory }: DaemonFacts, node: NodeFacts): Check {
  const capacity = node.capacities.get('memory.available');
  if (memory === undefined || capacity === undefined) {
    const fix = 'compare its evictionHard with that of evictd: kubectl get --raw /api/v1/nodes/NODE/proxy/configz';
    return degraded(id, `${process}: unknown hard threshold of memory`, fix, { evictionHard: null });
  }
  const text = `memory.available<${valueText(memory.value)}`;
  const { isFirst, text: order } = precedence({ bytes: resolve(memory.value, capacity), text: `at ${text}` }, hardMemoryLimit(node));
  const details = { evictionHard: text, isFirst };
  if (!isFirst) return ok(id, `${process}: ${order}`, details);
  return degraded(
    id,
    `${process}: ${order}: both evict for one shortage`,
    `set evictionHard.memory.available of evictd above ${valueText(memory.value)}, or lower that of the kubelet`,
    details,
  );
}
