import { TAINT_EFFECTS, type Taint } from '../../../core/disruption/taint.js';
import type { SavedSection } from './report-ports.js';

/** What evictd may have set at a node of the API server, and with which credential: another configuration takes it back. */
export interface ReportedNode {
  /** undefined: the service account of a pod. */
  readonly kubeconfig: string | undefined;
  readonly nodeName: string;
  readonly taints: readonly Taint[];
  /** evictd has cordoned it for a drain that it knows of, or an operator has asked since. */
  readonly isDrainKnown: boolean;
}

/** The nodes that the previous evictd saved: that of its configuration first, then those of earlier configurations. */
export function reportedNodesOf(saved: unknown): readonly ReportedNode[] {
  return [saved].flat().flatMap((one) => reportedNodeOf(one) ?? []); // an older evictd has saved one
}

/** undefined: nothing that can be read. */
export function reportedNodeOf(saved: unknown): ReportedNode | undefined {
  const { kubeconfig, nodeName, taints, isDrainKnown } = (saved ?? {}) as Partial<Record<keyof ReportedNode, unknown>>;
  if (typeof nodeName !== 'string' || !Array.isArray(taints)) return undefined;
  const of = typeof kubeconfig === 'string' ? kubeconfig : undefined;
  return { kubeconfig: of, nodeName, taints: taints.filter(isTaint), isDrainKnown: isDrainKnown === true };
}

/** A section a node, saved together: that of `nodeName`, and those of nodes that earlier configurations have named. */
export function nodeSections(
  all: SavedSection,
  nodeName: string,
): { readonly own: SavedSection; readonly former: readonly (SavedSection & { readonly node: ReportedNode })[] } {
  const nodes = new Map<string, unknown>([[nodeName, undefined]]);
  const before = reportedNodesOf(all.before);
  for (const node of before) nodes.set(node.nodeName, node);
  const sectionOf = (name: string): SavedSection => ({
    before: nodes.get(name),
    keep: (value) => {
      nodes.set(name, value);
      const left = [...nodes.values()].filter((node) => node !== undefined);
      all.keep(left.length === 0 ? undefined : left);
    },
  });
  const former = before.filter((node) => node.nodeName !== nodeName);
  return { own: sectionOf(nodeName), former: former.map((node) => ({ node, ...sectionOf(node.nodeName) })) };
}

function isTaint(one: Partial<Record<keyof Taint, unknown>> | null): one is Taint {
  const { key, value, effect } = one ?? {};
  return typeof key === 'string' && typeof value === 'string' && TAINT_EFFECTS.some((each) => each === effect);
}
