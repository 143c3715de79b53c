import { nodeTaints } from '../../src/core/cluster/condition-taints.js';
import { TaintManager, type TaintEffect } from '../../src/core/cluster/taint-manager.js';
import type { Taint } from '../../src/core/disruption/taint.js';
import { matchingTolerations, minTolerationSeconds } from '../../src/core/disruption/taint-eviction.js';
import type { Toleration } from '../../src/core/disruption/toleration.js';
import { integerOf, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { workloadAt } from '../../src/kubernetes/pod.js';
import { daemonSetTolerations, defaultTolerationSeconds, memoryPressureToleration } from './cluster/added-tolerations.js';
import { findMatchingUntoleratedTaint, toleratesTaint, type ComparisonGate } from './cluster/taint.js';
import { taintAt, taintsAt, tolerationAt, tolerationsAt } from '../../src/kubernetes/taint.js';
import { validateToleration } from './cluster/toleration-validation.js';
import { checkKinds, type KindCheck } from './kind.js';
import { VectorFormatError } from './vector.js';

export const checkTaints = checkKinds({
  tolerates: (input) => perGate((gate) => toleratesTaint(tolerationAt(member(input, 'toleration')), taintAt(member(input, 'taint')), gate)),
  untolerated,
  matching,
  timeline,
  nodeTaints: (input) => ({ taints: sortedTaints(nodeTaints(nodeAt(member(input, 'node')))) }),
  daemonSetTolerations: (input) => added(daemonSetTolerations(tolerationsAt(input), member(input, 'hostNetwork').value === true)),
  defaultTolerationSeconds: (input) => added(defaultTolerationSeconds(tolerationsAt(input))),
  memoryPressureToleration: (input) => {
    const pod = member(input, 'pod');
    const tolerations = tolerationsAt(member(pod, 'spec'));
    return added(workloadAt(pod).qosClass === 'BestEffort' ? tolerations : memoryPressureToleration(tolerations));
  },
  validateToleration: (input) =>
    perGate((gate) => validateToleration(tolerationAt(member(input, 'toleration')), 'spec.tolerations[0]', gate)),
});

function perGate(result: (gate: ComparisonGate) => unknown): Readonly<Record<string, unknown>> {
  return { gateOff: result('off'), gateOn: result('on') };
}

function untolerated(input: Field): ReturnType<KindCheck> {
  const [taints, tolerations] = [taintsAt(input), tolerationsAt(input)];
  const first = (gate: ComparisonGate, ...effects: Taint['effect'][]) => {
    const found = findMatchingUntoleratedTaint(taints, tolerations, effects, gate);
    return found === undefined ? null : withoutEmpty(found);
  };
  return perGate((gate) => ({ scheduler: first(gate, 'NoSchedule', 'NoExecute'), noExecute: first(gate, 'NoExecute') }));
}

function matching(input: Field): ReturnType<KindCheck> {
  const taints = taintsAt(input).filter(({ effect }) => effect === 'NoExecute');
  return perGate((gate) => {
    const { allTolerated, used } = matchingTolerations(taints, tolerationsAt(input), (toleration, taint) =>
      toleratesTaint(toleration, taint, gate),
    );
    const seconds = minTolerationSeconds(used);
    const usedTolerations = used.map(tolerationJson);
    if (!allTolerated) return { allTolerated, usedTolerations, evict: 'now' };
    if (taints.length === 0) return { allTolerated, usedTolerations, evict: 'never' };
    const evict = seconds === 'infinite' ? 'never' : seconds === 0n ? 'now' : 'after';
    return { allTolerated, usedTolerations, evict, minTolerationSeconds: seconds };
  });
}

interface Pod {
  readonly uid: string;
  readonly nodeName: string;
  readonly tolerations: readonly Toleration[];
}

const NODE = 'n1';
const NS_PER_MS = 1_000_000n;

/** A pod that is evicted is gone at once. */
function timeline(input: Field): ReturnType<KindCheck> {
  const manager = new TaintManager<Pod>();
  const pods = new Set<string>();
  const actions: { readonly atMs: bigint; readonly pod: string; readonly what: string }[] = [];
  const note = (atMs: bigint, effects: readonly TaintEffect<Pod>[]): void => {
    for (const { kind, pod } of effects) {
      actions.push({ atMs, pod: pod.uid, what: kind });
      if (kind !== 'evict') continue;
      pods.delete(pod.uid);
      manager.deletePod(pod.uid, atMs * 1_000_000n);
    }
  };
  let nowMs = 0n;
  const advance = (untilMs: bigint): void => {
    for (;;) {
      const dueNs = manager.nextDueNs(nowMs * NS_PER_MS);
      if (dueNs === undefined || dueNs / NS_PER_MS > untilMs) break;
      nowMs = dueNs / NS_PER_MS;
      note(nowMs, manager.due(dueNs));
    }
    nowMs = untilMs;
  };
  for (const event of items(member(input, 'events'))) {
    advance(integerAt(member(event, 'atMs')));
    note(nowMs, handled(manager, pods, event, nowMs * NS_PER_MS));
  }
  advance(integerAt(member(input, 'horizonMs')));
  const sorted = [...actions].sort(
    (one, other) => Number(one.atMs - other.atMs) || compareText(one.pod, other.pod) || compareText(one.what, other.what),
  );
  return { actions: sorted };
}

function handled(manager: TaintManager<Pod>, pods: Set<string>, event: Field, nowNs: bigint): readonly TaintEffect<Pod>[] {
  const uid = textOf(member(event, 'pod'));
  const type = textOf(member(event, 'type'));
  switch (type) {
    case 'setTaints':
      return manager.setNode(NODE, taintsAt(event), nowNs);
    case 'deleteNode':
      manager.deleteNode(NODE);
      return [];
    case 'addPod':
      pods.add(uid);
      return manager.setPod({ uid, nodeName: NODE, tolerations: tolerationsAt(event) }, nowNs);
    case 'setTolerations':
      return pods.has(uid) ? manager.setPod({ uid, nodeName: NODE, tolerations: tolerationsAt(event) }, nowNs) : [];
    case 'deletePod':
      pods.delete(uid);
      return manager.deletePod(uid, nowNs);
    default:
      throw new VectorFormatError(`unknown event ${JSON.stringify(type)}`);
  }
}

function nodeAt(node: Field): Parameters<typeof nodeTaints>[0] {
  const spec = member(node, 'spec');
  return {
    taints: taintsAt(spec),
    unschedulable: member(spec, 'unschedulable').value === true,
    conditions: items(member(member(node, 'status'), 'conditions')).map((condition) => ({
      type: textOf(member(condition, 'type')),
      status: textOf(member(condition, 'status')),
    })),
  };
}

function sortedTaints(taints: readonly Taint[]): readonly unknown[] {
  return [...taints].sort((one, other) => compareText(one.key, other.key) || compareText(one.effect, other.effect)).map(withoutEmpty);
}

function added(tolerations: readonly Toleration[]): Readonly<Record<string, unknown>> {
  return { tolerations: tolerations.map(tolerationJson) };
}

function tolerationJson(toleration: Toleration): unknown {
  return withoutEmpty({ ...toleration });
}

/** As the API writes an object: fields that are not set are left out. */
function withoutEmpty(object: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== '' && value !== undefined));
}

function integerAt(field: Field): bigint {
  return integerOf(field, 'int64') ?? 0n;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
