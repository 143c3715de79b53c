import { PRESSURE_TAINT_KEYS, UNSCHEDULABLE_TAINT } from '../disruption/node-taints.js';
import { isSameTaint, type Taint } from '../disruption/taint.js';
import { readyStatus, type ClusterNode } from './cluster-node.js';

// The taints of a node by its conditions (pkg/controller/nodelifecycle, v1.36.2).

const PREFIX = 'node.kubernetes.io/';
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;

/** The key of the taint, by condition and status. `Unknown` pressure gives no taint. */
const TAINT_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: PRESSURE_TAINT_KEYS.MemoryPressure },
  DiskPressure: { True: PRESSURE_TAINT_KEYS.DiskPressure },
  PIDPressure: { True: PRESSURE_TAINT_KEYS.PIDPressure },
  NetworkUnavailable: { True: `${PREFIX}network-unavailable` },
};

const OWN_KEYS = new Set([UNSCHEDULABLE_TAINT.key, ...Object.values(TAINT_KEYS).flatMap((keys) => Object.values(keys))]);

/**
 * What happens to the NoExecute taint of a node that is not ready. `keep`: it is not set yet, and one that is set follows the
 * condition. `clear`: it is removed, because no node of the cluster is ready.
 */
export type NoExecuteMode = 'set' | 'keep' | 'clear';

type TaintedNode = Pick<ClusterNode, 'taints' | 'unschedulable' | 'conditions'>;

/** The node's taints after the controller has acted. It removes only taints of its own. */
export function nodeTaints(node: TaintedNode, mode: NoExecuteMode = 'set'): readonly Taint[] {
  return noExecutePass(node, noSchedulePass(node), mode);
}

function noSchedulePass({ taints, unschedulable, conditions }: TaintedNode): readonly Taint[] {
  const keys = conditions.flatMap(({ type, status }) => TAINT_KEYS[type]?.[status] ?? []);
  const wanted = new Set([...keys, ...(unschedulable ? [UNSCHEDULABLE_TAINT.key] : [])]);
  const isOwn = ({ effect, key }: Taint): boolean => effect === 'NoSchedule' && OWN_KEYS.has(key);
  const kept = taints.filter((taint) => !isOwn(taint) || wanted.has(taint.key));
  const added = [...wanted].filter((key) => !kept.some((taint) => isOwn(taint) && taint.key === key));
  return [...kept, ...added.map((key): Taint => ({ key, value: '', effect: 'NoSchedule' }))];
}

/** Sets the taint for the condition Ready: not-ready if it is False, unreachable if it is Unknown, none if it is True. */
function noExecutePass(node: TaintedNode, taints: readonly Taint[], mode: NoExecuteMode): readonly Taint[] {
  const ready = readyStatus(node);
  const others = taints.filter((taint) => !isOfReady(taint));
  if (mode === 'clear' || ready === 'True') return others;
  if (ready === undefined || (mode === 'keep' && others.length === taints.length)) return taints;
  return [...others, { key: ready === 'False' ? NOT_READY : UNREACHABLE, value: '', effect: 'NoExecute' }];
}

function isOfReady({ effect, key }: Taint): boolean {
  return effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE);
}

/** Whether the node has the NoExecute taint of a node that is not ready. */
export function isEvicted({ taints }: Pick<ClusterNode, 'taints'>): boolean {
  return taints.some(isOfReady);
}

/** Whether two lists have the same taints, in any order. A node has one taint with a key and an effect. */
export function hasTaints(one: readonly Taint[], other: readonly Taint[]): boolean {
  return one.length === other.length && one.every((taint) => other.some((each) => isSameTaint(each, taint) && each.value === taint.value));
}
