import type { Taint } from '../../../core/disruption/taint.js';
import type { SavedSection } from './report-ports.js';

/** What evictd may have set at a node of the API server, and with which credential: another configuration takes it back. */
export interface ReportedNode {
  /** undefined: the service account of a pod. */
  readonly kubeconfig: string | undefined;
  readonly nodeName: string;
  readonly taints: readonly Taint[];
  /** evictd has cordoned it for a drain that it knows of, or an operator has asked since. */
  readonly isDrainKnown: boolean;
  /** The node was unschedulable since evictd is cordoned: another program that uncordons it meanwhile has its way. */
  readonly hasCordoned: boolean;
}

/** That of its configuration first, then those of earlier configurations. */
export type ReportedNodes = readonly ReportedNode[];

export type NodeSection = SavedSection<ReportedNode | undefined>;

/** A section a node, saved together: that of `nodeName`, and those of nodes that earlier configurations have named. */
export function nodeSections(
  all: SavedSection<ReportedNodes>,
  nodeName: string,
): { readonly own: NodeSection; readonly former: readonly (NodeSection & { readonly node: ReportedNode })[] } {
  const nodes = new Map<string, ReportedNode | undefined>([[nodeName, undefined]]);
  const { before } = all;
  for (const node of before) nodes.set(node.nodeName, node);
  const sectionOf = (name: string): NodeSection => ({
    before: nodes.get(name),
    keep: (value) => {
      nodes.set(name, value as ReportedNode | undefined);
      const left = [...nodes.values()].filter((node) => node !== undefined);
      all.keep(left.length === 0 ? undefined : left);
    },
  });
  const former = before.filter((node) => node.nodeName !== nodeName);
  return { own: sectionOf(nodeName), former: former.map((node) => ({ node, ...sectionOf(node.nodeName) })) };
}
