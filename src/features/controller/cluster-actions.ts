import type { ClusterEffect } from '../../core/cluster/cluster-control.js';
import {
  GC_REASON,
  markCall,
  notReadyCall,
  silenceCall,
  TAINT_REASON,
  taintsCall,
  UNBOUND_REASON,
  type NodeNow,
} from '../../core/cluster/cluster-call.js';
import type { ClusterNode } from '../../core/cluster/cluster-node.js';
import { isOutOfService } from '../../core/cluster/pod-gc.js';
import { hasEnded, type ClusterPod } from '../../core/cluster/cluster-pod.js';
import { isEvicted, type NoExecuteMode } from '../../core/cluster/condition-taints.js';
import { answerText, deletionAnswer, type ApiAnswer } from '../../core/kubernetes/eviction-answer.js';
import type { ClusterEvent } from '../../core/kubernetes/event-series.js';
import { nodePath } from '../../core/kubernetes/node-condition-patch.js';
import { deleteCall, readPodCall, podNow, type ApiCall } from '../../core/kubernetes/pod-call.js';
import { clusterNodeOf, clusterPodOf } from '../../kubernetes/cluster-document.js';
import { documentOf, items, member, textOf } from '../../kubernetes/document.js';
import type { Log } from '../../log/log.js';

export interface ActionParts {
  /** Rejects where there is no answer, and when this process does not lead. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  /** @param node  as the API server has it now */
  readonly isSilent: (node: ClusterNode) => boolean;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly event: (event: ClusterEvent) => void;
  readonly count: (what: 'evicted' | 'force deleted' | 'force delete failed' | 'tainted', label?: string) => void;
}

/** The answer of the API server if it is not a success. */
export class Refusal extends Error {
  readonly retryAfterSeconds: number | undefined;

  constructor(what: string, answer: ApiAnswer) {
    super(`${what}: the API server ${answerText(answer)}`);
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

/** Attempts to change a node that other programs change at the same time. */
const MAX_CONFLICTS = 5;

/** Carries one effect out. Rejects if it is to be tried again. */
export async function perform(parts: ActionParts, effect: ClusterEffect): Promise<void> {
  switch (effect.kind) {
    case 'cancel':
      parts.log.info(`the eviction of pod ${nameOf(effect.pod)} is cancelled: its node has no such taint any more, or the pod is gone`);
      parts.event(taintEvent(effect.pod, 'CancelEviction', 'Cancelling deletion of Pod'));
      return;
    case 'evict':
      return evict(parts, effect.pod);
    case 'force delete':
      return forceDelete(parts, effect.pod);
    case 'not ready': {
      const answer = await parts.ask(notReadyCall(effect.pod, now()));
      if (deletionAnswer('condition', answer) === 'away')
        throw new Refusal(`pod ${nameOf(effect.pod)} cannot be shown as not ready`, answer);
      return;
    }
    case 'silence':
      return silence(parts, effect.node);
    case 'taint':
      return taint(parts, effect.node, effect.mode);
  }
}

/** An effect of the same object is carried out after it. */
export function objectOf(effect: ClusterEffect): string {
  return 'pod' in effect ? effect.pod.uid : `node ${effect.node}`;
}

async function evict({ ask, log, event, count }: ActionParts, pod: ClusterPod): Promise<void> {
  const seen = await look(ask, pod);
  if (seen === undefined || seen.graceSeconds !== undefined) return;
  if (!seen.hasCondition && !(await done(ask, 'condition', markCall(pod, TAINT_REASON, now()), pod))) return;
  if (!(await done(ask, 'delete', deleteCall(pod), pod))) return;
  log.info(
    `pod ${nameOf(pod)} is deleted: node ${pod.nodeName} has a NoExecute taint, and the pod does not tolerate it, or its tolerationSeconds are over`,
  );
  count('evicted');
  event(taintEvent(pod, 'Evict', 'Marking for deletion Pod'));
}

async function forceDelete({ ask, log, count }: ActionParts, pod: ClusterPod): Promise<void> {
  try {
    const answer = await ask(readPodCall(pod));
    if (answer.status === 404) return;
    if (answer.status !== 200) throw new Refusal(`pod ${nameOf(pod)} cannot be read`, answer);
    const current = clusterPodOf(answer.body);
    if (current.uid !== pod.uid || !current.terminating) return;
    const node = pod.nodeName === '' ? undefined : await nodeNow(ask, pod.nodeName);
    if (pod.nodeName !== '' && (node === undefined || !isOutOfService(node.node))) return; // it came back
    const reason = node === undefined ? UNBOUND_REASON : GC_REASON;
    if (!hasEnded(current) && !(await done(ask, 'condition', markCall(pod, reason, now(), 'Failed'), pod))) return;
    if (!(await done(ask, 'delete', deleteCall(pod, 0), pod))) return;
    const why = pod.nodeName === '' ? 'it is bound to no node' : `node ${pod.nodeName} is out of service`;
    log.info(`pod ${nameOf(pod)} is deleted by force: ${why}`);
    count('force deleted', pod.nodeName === '' ? 'unscheduled' : 'out-of-service');
  } catch (error) {
    count('force delete failed', pod.nodeName === '' ? 'unscheduled' : 'out-of-service');
    throw error;
  }
}

/** undefined: the pod is gone, or another one has its name. */
async function look(ask: ActionParts['ask'], pod: ClusterPod): Promise<ReturnType<typeof podNow>> {
  const answer = await ask(readPodCall(pod));
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new Refusal(`pod ${nameOf(pod)} cannot be read`, answer);
  const seen = podNow(answer.body);
  return seen?.uid === pod.uid ? seen : undefined;
}

/** false: the pod is gone. */
async function done(ask: ActionParts['ask'], what: 'condition' | 'delete', call: ApiCall, pod: ClusterPod): Promise<boolean> {
  const answer = await ask(call);
  const result = deletionAnswer(what, answer);
  if (result === 'done') return true;
  if (result === 'gone') return false;
  throw new Refusal(`pod ${nameOf(pod)} cannot be ${what === 'condition' ? 'given its condition' : 'deleted'}`, answer);
}

/** Marks a silent node. A node that has reported while this waited is left alone. */
async function silence({ ask, isSilent, log, event }: ActionParts, name: string): Promise<void> {
  const node = await nodeNow(ask, name);
  const call = node && isSilent(node.node) ? silenceCall(node, now()) : undefined;
  if (call === undefined) return;
  const answer = await ask(call);
  if (answer.status === 409 || answer.status === 404) return; // it has reported meanwhile, or it is gone
  if (answer.status !== 200) throw new Refusal(`the conditions of node ${name} cannot be marked as Unknown`, answer);
  log.warn(`the kubelet of node ${name} is silent: its conditions are Unknown now`, { code: 'EVICTD_CONTROLLER_NODE' });
  const note = `Node ${name} status is now: NodeNotReady`;
  event({ regarding: { kind: 'Node', name }, type: 'Normal', reason: 'NodeNotReady', action: 'MarkUnknown', note });
}

async function taint({ ask, log, count }: ActionParts, name: string, mode: NoExecuteMode): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const node = await nodeNow(ask, name);
    const call = node && taintsCall(node, mode, now());
    if (node === undefined || call === undefined) return;
    const answer = await ask(call);
    if (answer.status === 404 || (answer.status === 409 && attempt === MAX_CONFLICTS)) return;
    if (answer.status === 409) continue;
    if (answer.status !== 200) throw new Refusal(`the taints of node ${name} cannot be changed`, answer);
    const { taints } = (call.body as { readonly spec: Pick<ClusterNode, 'taints'> }).spec;
    log.info(`the taints of node ${name} are ${taints.map(({ key, effect }) => `${key}:${effect}`).join(', ') || 'none'} now`);
    if (!isEvicted(node.node) && isEvicted({ taints })) count('tainted', node.node.zone);
    return;
  }
}

/** undefined: the node is gone. */
async function nodeNow(ask: ActionParts['ask'], name: string): Promise<NodeNow | undefined> {
  const answer = await ask({ method: 'GET', path: nodePath(name) });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new Refusal(`node ${name} cannot be read`, answer);
  const document = documentOf(answer.body);
  return {
    node: clusterNodeOf(answer.body),
    resourceVersion: textOf(member(member(document, 'metadata'), 'resourceVersion')),
    taints: items(member(member(document, 'spec'), 'taints')).map(({ value }) => value as object),
  };
}

/** An event as kube-controller-manager writes it. */
function taintEvent({ namespace, name, uid }: ClusterPod, action: string, what: string): ClusterEvent {
  return {
    regarding: { kind: 'Pod', namespace, name, uid },
    ...{ type: 'Normal', reason: 'TaintManagerEviction', action, note: `${what} ${namespace}/${name}` },
  };
}

function nameOf({ namespace, name }: ClusterPod): string {
  return `${namespace}/${name}`;
}

/** The time in RFC 3339 without fractions of a second, as v1.Time. */
function now(): string {
  return new Date().toISOString().replace(/\.\d+/, '');
}
