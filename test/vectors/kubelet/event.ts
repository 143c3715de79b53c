import type { Effect } from '../../../src/core/decide/effect.js';
import { evictionMessage } from './eviction-message.js';

/** An event as the kubelet records it. */
export interface KubernetesEvent {
  /** 'Node/NAME' or 'Pod/NAME'. */
  readonly regarding: string;
  readonly type: 'Warning';
  readonly reason: 'EvictionThresholdMet' | 'Evicted';
  readonly message: string;
  /** null: an event without. */
  readonly annotations: Readonly<Record<string, string>> | null;
}

/** The event of an effect (kubelet: eviction_manager.go, v1.36.2); undefined: it has none. */
export function eventOf(effect: Effect, nodeName: string): KubernetesEvent | undefined {
  switch (effect.kind) {
    case 'attempt':
      return {
        regarding: `Node/${nodeName}`,
        type: 'Warning',
        reason: 'EvictionThresholdMet',
        message: `Attempting to reclaim ${effect.resource}`,
        annotations: null,
      };
    case 'evict':
      return {
        regarding: `Pod/${effect.decision.victim.workload.name}`,
        type: 'Warning',
        reason: 'Evicted',
        ...evictionMessage(effect.decision),
      };
    case 'reclaim':
    case 'reclaimed':
    case 'escalate':
    case 'outcome':
    case 'condition':
    case 'threshold':
    case 'alert':
    case 'release':
    case 'resume':
    case 'pause':
    case 'taint':
    case 'drain':
    case 'policy':
    case 'policy-result':
    case 'policy-end':
    case 'error':
      return undefined;
  }
}
