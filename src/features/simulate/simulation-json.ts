import { jsonInteger } from '../../core/quantity/integer.js';
import { jsonDocument } from '../../core/name/json-text.js';
import type { NodeUse, Use } from '../../core/simulation/outcome.js';
import type { ScoredNode, TimelineEvent } from '../../core/simulation/timeline-event.js';
import { actionText } from './simulation-text.js';
import type { SimulationReport } from './simulation-report.js';

const NS_PER_SECOND = 1e9;

/** Times in seconds, cpu in millicores, memory in bytes. docs/simulate-options.md has the shape. */
export function simulationJson({ cluster, before, after, events, outcome, explained }: SimulationReport): string {
  const { nodes, pods, budgets } = cluster.content;
  const document = {
    cluster: { nodes: nodes.length, pods: pods.length, budgets: budgets.length },
    findings: cluster.findings.list.map(({ level, at, object, message, more }) => ({ level, ...at, object, message, more })),
    timeline: events.map(eventJson),
    nodes: before.map((use, index) => ({ node: use.node, before: useJson(use), after: useJson(after[index] ?? use) })),
    outcome,
    ...(explained && {
      explained: { pod: explained.pod, nodes: explained.nodes.map((node) => ('rejections' in node ? node : scoreJson(node))) },
    }),
  };
  return jsonDocument(document);
}

function secondsOf(ns: bigint): number {
  return Number(ns) / NS_PER_SECOND;
}

function eventJson(event: TimelineEvent): unknown {
  const { atNs, kind } = event;
  const at = { at: secondsOf(atNs), kind };
  switch (event.kind) {
    case 'action':
      return { ...at, action: event.action.kind, text: actionText(event.action) };
    case 'evicted':
      return { ...at, ...without(event), graceSeconds: secondsOf(event.graceNs) };
    case 'refused':
    case 'stays':
      return { ...at, ...without(event), until: event.untilNs === undefined ? null : secondsOf(event.untilNs) };
    case 'scheduled':
      return { ...at, ...without(event), best: event.best.map(scoreJson) };
    case 'node':
    case 'pending':
    case 'ready':
    case 'lost':
      return { ...at, ...without(event) };
  }
}

/** The fields that have no other form in JSON. */
function without(event: TimelineEvent): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(event).filter(([key]) => !key.endsWith('Ns') && key !== 'kind'));
}

function scoreJson({ node, total, scores }: ScoredNode): unknown {
  return { node, total, scores: Object.fromEntries(scores) };
}

function useJson({ cpu, memory, pods }: NodeUse): unknown {
  const use = ({ used, allocatable }: Use): unknown => ({ used: jsonInteger(used), allocatable: jsonInteger(allocatable) });
  return { cpu: use(cpu), memory: use(memory), pods: use(pods) };
}
