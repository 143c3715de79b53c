import { CONDITION_TYPES, type ConditionType } from '../signal/signal.js';
import { listOf, type ApiCall } from './pod-call.js';

/** The reasons of the kubelet's conditions (after 'Kubelet' or 'Evictd'), and the resource for the message. */
const WORDS: Readonly<Record<ConditionType, { readonly isTrue: string; readonly isFalse: string; readonly resource: string }>> = {
  MemoryPressure: { isTrue: 'HasInsufficientMemory', isFalse: 'HasSufficientMemory', resource: 'memory' },
  DiskPressure: { isTrue: 'HasDiskPressure', isFalse: 'HasNoDiskPressure', resource: 'disk space' },
  PIDPressure: { isTrue: 'HasInsufficientPID', isFalse: 'HasSufficientPID', resource: 'process ids' },
};

/** The node is cordoned, and evictd has done it. It outlives a reboot, unlike the state of evictd. */
const CORDONED = 'EvictdCordoned';

interface NodeCondition {
  readonly type?: string;
  readonly status?: string;
  readonly message?: string;
}

/** What evictd wants to publish. `names`: types of its own, or those of the kubelet. */
export interface WantedConditions {
  readonly names: 'own' | 'kubelet' | 'none';
  readonly conditions: readonly ConditionType[];
  readonly isCordoned: boolean;
}

/**
 * The patch of the node's status: all three conditions with their heartbeat, and that of a cordoned node. It removes those that evictd
 * has set with another configuration. A strategic merge by type: the others stay. (An RFC 7396 merge patch would remove them.)
 *
 * @param node  as the API server has answered; conditions that stay as they are keep their time of transition
 * @returns undefined: there is nothing to publish
 */
export function conditionPatch(nodeName: string, node: unknown, wanted: WantedConditions, now: string): ApiCall | undefined {
  const before = conditionsOf(node);
  const own: (typeof CORDON)[] = wanted.names === 'none' ? [] : pressureConditions(wanted, wanted.names);
  const isKept = isCordonedByEvictd(node) ? wanted.isCordoned || isUnschedulable(node) : wanted.isCordoned && !isUnschedulable(node);
  if (isKept && (own.length > 0 || !isCordonedByEvictd(node))) own.push(CORDON);
  const types = new Set([...own.map(({ type }) => type), ...(isKept ? [CORDONED] : [])]);
  const stale = before.filter((one) => one.type !== undefined && isOfEvictd(one) && !types.has(one.type));
  if (own.length === 0 && stale.length === 0) return undefined;
  const isSame = (type: string, status: string): boolean => before.some((one) => one.type === type && one.status === status);
  const set = own.map((one) => ({ ...one, lastHeartbeatTime: now, ...(!isSame(one.type, one.status) && { lastTransitionTime: now }) }));
  const removed = stale.map(({ type }) => ({ $patch: 'delete', type }));
  return {
    method: 'PATCH',
    path: `${nodePath(nodeName)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: { status: { conditions: [...set, ...removed] } },
  };
}

const CORDON = {
  type: CORDONED,
  status: 'True',
  reason: 'EvictdCordoned',
  message: 'evictd: an operator has cordoned the node with evictd',
};

function pressureConditions({ conditions }: WantedConditions, names: 'own' | 'kubelet'): (typeof CORDON)[] {
  const [before, by] = names === 'own' ? ['Evictd', 'Evictd'] : ['', 'Kubelet'];
  return CONDITION_TYPES.map((of) => {
    const isTrue = conditions.includes(of);
    const words = WORDS[of];
    return {
      ...{ type: `${before}${of}`, status: isTrue ? 'True' : 'False', reason: `${by}${isTrue ? words.isTrue : words.isFalse}` },
      message: `evictd: the node has ${isTrue ? 'too little' : 'enough'} ${words.resource}`,
    };
  });
}

/** A condition of the kubelet's type may be the kubelet's by now. */
function isOfEvictd({ type = '', message = '' }: NodeCondition): boolean {
  const isOfPressure = CONDITION_TYPES.some((of) => type === `Evictd${of}` || (type === of && message.startsWith('evictd: ')));
  return isOfPressure || type === CORDONED;
}

/** @param node  as the API server has answered */
export function isCordonedByEvictd(node: unknown): boolean {
  return conditionsOf(node).some(({ type, status }) => type === CORDONED && status === 'True');
}

/** evictd or another program has uncordoned it since: the condition is to be removed. */
export function isUncordoned(node: unknown): boolean {
  return isCordonedByEvictd(node) && !isUnschedulable(node);
}

function isUnschedulable(node: unknown): boolean {
  return ((node ?? {}) as { readonly spec?: { readonly unschedulable?: boolean } }).spec?.unschedulable === true;
}

function conditionsOf(node: unknown): readonly NodeCondition[] {
  return listOf(((node ?? {}) as { readonly status?: { readonly conditions?: unknown } }).status?.conditions);
}

export function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}
