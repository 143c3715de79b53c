import { CONDITION_TYPES, type ConditionType } from '../signal/signal.js';
import { nodePath } from './node-taint-patch.js';
import type { ApiCall } from './pod-call.js';

/** The reasons of the kubelet's conditions (after 'Kubelet' or 'Evictd'), and the resource for the message. */
const WORDS: Readonly<Record<ConditionType, { readonly isTrue: string; readonly isFalse: string; readonly resource: string }>> = {
  MemoryPressure: { isTrue: 'HasInsufficientMemory', isFalse: 'HasSufficientMemory', resource: 'memory' },
  DiskPressure: { isTrue: 'HasDiskPressure', isFalse: 'HasNoDiskPressure', resource: 'disk space' },
  PIDPressure: { isTrue: 'HasInsufficientPID', isFalse: 'HasSufficientPID', resource: 'process ids' },
};

/**
 * The patch of the node's status, with all three conditions and their heartbeat. A strategic merge by type: the others stay. (An RFC
 * 7396 merge patch would remove them.)
 *
 * @param node  as the API server has answered; conditions that stay as they are keep their time of transition
 */
export function conditionPatch(
  node: unknown,
  { nodeName, names, conditions }: { nodeName: string; names: 'own' | 'kubelet'; conditions: readonly ConditionType[] },
  now: string,
): ApiCall {
  const { status } = (node ?? {}) as { readonly status?: { readonly conditions?: readonly { type?: string; status?: string }[] } };
  const patched = CONDITION_TYPES.map((of) => {
    const type = names === 'own' ? `Evictd${of}` : of;
    const isTrue = conditions.includes(of);
    const before = status?.conditions?.find((condition) => condition.type === type);
    const text = isTrue ? 'True' : 'False';
    const words = WORDS[of];
    return {
      ...{ type, status: text, reason: `${names === 'own' ? 'Evictd' : 'Kubelet'}${isTrue ? words.isTrue : words.isFalse}` },
      message: `evictd: the node has ${isTrue ? 'too little' : 'enough'} ${words.resource}`,
      lastHeartbeatTime: now,
      ...(before?.status !== text && { lastTransitionTime: now }),
    };
  });
  return {
    method: 'PATCH',
    path: `${nodePath(nodeName)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: { status: { conditions: patched } },
  };
}
