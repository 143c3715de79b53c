import { degraded, ok, type Check } from '../check.js';
import { isLimited } from './cgroup.js';
import type { CgroupFacts, DaemonFacts } from '../../../host/facts.js';
import type { NodeFacts } from '../machine-facts.js';
import { limitIn, limitText } from '../../../config/lint/limit.js';
import { isListed, operandText, thresholdKind, valueText, type Threshold } from '../../../core/threshold/threshold.js';
import { operatorOf } from '../../../core/signal/signal.js';

/** Which program acts first at a threshold of the kubelet. */
type Order = 'kubelet' | 'either' | 'evictd at the same limit' | 'evictd' | 'unknown';

const TEXTS: Readonly<Record<Order, (limits: string) => string>> = {
  kubelet: (limits) => `it acts before evictd at ${limits}`,
  either: (limits) => `both may act first at ${limits}: on cgroup v1 the kernel notifies the kubelet, too`,
  'evictd at the same limit': (limits) => `evictd acts first at the same limit ${limits}: the kubelet looks only every 10 s`,
  evictd: (limits) => `it acts after evictd at ${limits}`,
  unknown: (limits) => `not compared, because the capacity is unknown: ${limits}`,
};
const ORDERS = Object.keys(TEXTS) as readonly Order[];

interface Compared {
  readonly theirs: Threshold;
  readonly order: Order;
  /** 'memory.available<10% = 819MiB (evictd: 500Mi)' */
  readonly text: string;
}

/** Whether the kubelet evicts before evictd, at each of its thresholds for a signal that evictd has thresholds for, too. */
export function checkKubelet(id: string, process: string, { thresholds }: DaemonFacts, node: NodeFacts, cgroup: CgroupFacts): Check {
  if (thresholds === undefined || !node.capacities.has('memory.available')) {
    const fix = 'compare its evictionHard with that of evictd: kubectl get --raw /api/v1/nodes/NODE/proxy/configz';
    return degraded(id, `${process}: unknown thresholds`, fix, { evictionHard: null });
  }
  const compared = thresholds.flatMap((theirs) => comparison(theirs, node, cgroup));
  const hard = thresholds.find((theirs) => theirs.signal === 'memory.available' && thresholdKind(theirs) === 'hard');
  const early = compared.filter(({ order }) => order === 'kubelet' || order === 'either');
  const details = { evictionHard: hard ? operandText(hard) : null, isFirst: early.length > 0, first: early.map(({ text }) => text) };
  const texts = ORDERS.flatMap((order) => {
    const limits = compared.filter((each) => each.order === order).map(({ text }) => text);
    return limits.length === 0 ? [] : [TEXTS[order](limits.join(', '))];
  });
  const summary = `${process}: ${texts.join('; ') || 'it has no threshold for a signal of evictd'}`;
  if (early.length === 0) return ok(id, summary, details);
  const keys = early.map(({ theirs }) => {
    const { signal, value } = theirs;
    return `${thresholdKind(theirs) === 'hard' ? 'evictionHard' : 'evictionSoft'}.${signal} above ${valueText(value)}`;
  });
  return degraded(id, summary, `set ${keys.join(', ')} for evictd, or lower the limits of the kubelet`, details);
}

/** Empty: evictd has no threshold for that signal. */
function comparison(theirs: Threshold, { thresholds, capacities }: NodeFacts, { memory, pods }: CgroupFacts): Compared[] {
  const { signal, value, gracePeriodNs } = theirs;
  const capacity = capacities.get(signal);
  const ownLimit = (own: Threshold): bigint => limitIn(own.value, capacity) ?? -1n;
  const own = thresholds.filter((each) => each.signal === signal && !isListed(each)).sort((a, b) => (ownLimit(a) < ownLimit(b) ? 1 : -1));
  // A soft threshold of the kubelet also comes before or after a hard one of evictd. A soft one of evictd does not replace a hard one.
  const ours = own.find((each) => thresholdKind(each) === thresholdKind(theirs)) ?? own.find((each) => thresholdKind(each) === 'hard');
  const kind = thresholdKind(theirs) === 'soft' ? 'soft ' : '';
  const text = `${kind}${signal}${operatorOf(signal)}${limitText(signal, value, capacity)}`;
  // Where nothing limits the pods, memory.available is met first.
  const isMetFirst = signal === 'memory.available' || (signal === 'allocatableMemory.available' && isLimited(pods, capacities));
  if (ours === undefined) return isMetFirst ? [{ theirs, order: 'kubelet', text: `${text} (evictd: none)` }] : [];
  const [limit, our] = [limitIn(value, capacity), limitIn(ours.value, capacity)];
  const isSame = limit === our && valueText(value) === valueText(ours.value);
  const both = isSame ? text : `${text} (evictd: ${limitText(signal, ours.value, capacity)})`;
  const order = (): Order => {
    if (limit === undefined || our === undefined) return isSame ? sameLimit() : 'unknown';
    if (limit !== our) return limit > our ? 'kubelet' : 'evictd';
    return sameLimit();
  };
  const sameLimit = (): Order => {
    if (gracePeriodNs !== ours.gracePeriodNs) return gracePeriodNs < ours.gracePeriodNs ? 'kubelet' : 'evictd';
    return memory?.version === 1 && signal === 'memory.available' ? 'either' : 'evictd at the same limit';
  };
  return [{ theirs, order: order(), text: both }];
}
