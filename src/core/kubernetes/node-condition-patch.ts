import { CONDITION_TYPES, type ConditionType } from '../signal/signal.js';
import { listOf, type ApiCall } from './pod-call.js';

/** The reasons of the kubelet's conditions (after 'Kubelet' or 'Evictd'), and the resource for the message. */
const WORDS: Readonly<Record<ConditionType, { readonly isTrue: string; readonly isFalse: string; readonly resource: string }>> = {
  MemoryPressure: { isTrue: 'HasInsufficientMemory', isFalse: 'HasSufficientMemory', resource: 'memory' },
  DiskPressure: { isTrue: 'HasDiskPressure', isFalse: 'HasNoDiskPressure', resource: 'disk space' },
  PIDPressure: { isTrue: 'HasInsufficientPID', isFalse: 'HasSufficientPID', resource: 'process ids' },
};

/** The node is cordoned, and evictd has done it, in the boot that its message names. It outlives a reboot, unlike the state of evictd. */
const CORDONED = 'EvictdCordoned';
/** The boot that the cordon of a node belongs to. 'other machine': or the kubelet has not reported since this machine booted. */
export type CordonOf = 'this boot' | 'earlier boot' | 'other machine';

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
  /** The boot ID of this machine. */
  readonly bootId: string;
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
  const own: OwnCondition[] = wanted.names === 'none' ? [] : pressureConditions(wanted, wanted.names);
  const isKept = isCordonedByEvictd(node) ? wanted.isCordoned || isUnschedulable(node) : wanted.isCordoned && !isUnschedulable(node);
  const said = before.find(isCordon)?.message;
  const isOwn = said === undefined || (wanted.isCordoned && cordonOf(node, wanted.bootId) !== 'other machine');
  const message = isOwn ? messageOf(wanted.bootId) : said;
  if (isKept && (own.length > 0 || message !== said)) own.push(cordonCondition(message));
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

type OwnCondition = Readonly<Record<'type' | 'status' | 'reason' | 'message', string>>;

function cordonCondition(message: string): OwnCondition {
  return { type: CORDONED, status: 'True', reason: 'EvictdCordoned', message };
}

function messageOf(bootId: string): string {
  return `evictd: an operator has cordoned the node with evictd in boot ${bootId}`;
}

function pressureConditions({ conditions }: WantedConditions, names: 'own' | 'kubelet'): OwnCondition[] {
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
  return conditionsOf(node).some(isCordon);
}

function isCordon({ type, status }: NodeCondition): boolean {
  return type === CORDONED && status === 'True';
}

/**
 * @param node  as the API server has answered
 * @returns undefined: evictd has not cordoned it, or it is uncordoned
 */
export function cordonOf(node: unknown, bootId: string): CordonOf | undefined {
  const cordon = conditionsOf(node).find(isCordon);
  if (cordon === undefined || !isUnschedulable(node)) return undefined;
  if (cordon.message === messageOf(bootId)) return 'this boot';
  const { nodeInfo } = ((node ?? {}) as { readonly status: { readonly nodeInfo?: { readonly bootID?: unknown } } }).status;
  return [undefined, '', bootId].includes(nodeInfo?.bootID as string) ? 'earlier boot' : 'other machine';
}

/** evictd or another program has uncordoned it since: the condition is to be removed. */
export function isUncordoned(node: unknown): boolean {
  return isCordonedByEvictd(node) && !isUnschedulable(node);
}

/** @param node  as the API server has answered */
export function isUnschedulable(node: unknown): boolean {
  return ((node ?? {}) as { readonly spec?: { readonly unschedulable?: boolean } }).spec?.unschedulable === true;
}

function conditionsOf(node: unknown): readonly NodeCondition[] {
  return listOf(((node ?? {}) as { readonly status?: { readonly conditions?: unknown } }).status?.conditions);
}

export function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}
