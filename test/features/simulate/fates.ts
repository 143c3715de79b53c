import { lastOf, type LivePod } from '../../../src/core/simulation/simulated-pod.js';

/** Where the work of a pod is at the end. */
type PodFate =
  | { readonly kind: 'running' | 'starting' | 'ending'; readonly node: string }
  | { readonly kind: 'pending' | 'finished' }
  /** No controller makes it again, or none on another node; or one had when it began to end, before the start. */
  | { readonly kind: 'ended'; readonly why: 'no controller' | 'DaemonSet' | 'static pod' | 'replaced before' };

/** Follows the replacements. */
function fateOf(pod: LivePod): PodFate {
  const last = lastOf(pod);
  switch (last.stage) {
    case 'running':
    case 'starting':
    case 'ending':
      return last.node === undefined ? { kind: 'pending' } : { kind: last.stage, node: last.node };
    case 'pending':
    case 'finished':
      return { kind: last.stage };
    case 'ended': {
      const { controller } = last.scheduling;
      if (controller === undefined) return { kind: 'ended', why: 'no controller' };
      if (controller.kind === 'Node') return { kind: 'ended', why: 'static pod' };
      return { kind: 'ended', why: controller.kind === 'DaemonSet' ? 'DaemonSet' : 'replaced before' };
    }
  }
}

/** What the work of each pod of the start has come to, by its name. */
export function fatesOf(pods: readonly LivePod[]): ReadonlyMap<string, PodFate> {
  return new Map(pods.filter(({ replaces }) => replaces === undefined).map((pod) => [pod.path, fateOf(pod)]));
}
