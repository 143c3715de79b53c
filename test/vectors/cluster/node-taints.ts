// The taints that the node lifecycle controller sets by a node's conditions (pkg/controller/nodelifecycle, v1.36.2).
import { PRESSURE_TAINT_KEYS } from '../../../src/core/disruption/node-taints.js';
import type { Taint } from '../../../src/core/disruption/taint.js';

const PREFIX = 'node.kubernetes.io/';
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

/** By condition and status. `Unknown` pressure gives no taint. */
const TAINT_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: PRESSURE_TAINT_KEYS.MemoryPressure },
  DiskPressure: { True: PRESSURE_TAINT_KEYS.DiskPressure },
  PIDPressure: { True: PRESSURE_TAINT_KEYS.PIDPressure },
  NetworkUnavailable: { True: `${PREFIX}network-unavailable` },
};

const OWN_KEYS = new Set([UNSCHEDULABLE, ...Object.values(TAINT_KEYS).flatMap((keys) => Object.values(keys))]);

export interface TaintedNode {
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}

/** The node's taints after the controller has acted. It removes only taints of its own. */
export function nodeTaints(node: TaintedNode): readonly Taint[] {
  return noExecutePass(node, noSchedulePass(node));
}

function noSchedulePass({ taints, unschedulable, conditions }: TaintedNode): readonly Taint[] {
  const keys = conditions.flatMap(({ type, status }) => TAINT_KEYS[type]?.[status] ?? []);
  const wanted = new Set([...keys, ...(unschedulable ? [UNSCHEDULABLE] : [])]);
  const isOwn = ({ effect, key }: Taint): boolean => effect === 'NoSchedule' && OWN_KEYS.has(key);
  const kept = taints.filter((taint) => !isOwn(taint) || wanted.has(taint.key));
  const added = [...wanted].filter((key) => !kept.some((taint) => isOwn(taint) && taint.key === key));
  return [...kept, ...added.map((key): Taint => ({ key, value: '', effect: 'NoSchedule' }))];
}

/** By the condition Ready: not-ready if it is False, unreachable if it is Unknown, neither if it is True. */
function noExecutePass({ conditions }: TaintedNode, taints: readonly Taint[]): readonly Taint[] {
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  if (ready === undefined) return taints;
  const without = (keys: readonly string[]): readonly Taint[] =>
    taints.filter(({ effect, key }) => effect !== 'NoExecute' || !keys.includes(key));
  if (ready === 'True') return without([NOT_READY, UNREACHABLE]);
  return [...without([NOT_READY, UNREACHABLE]), { key: ready === 'False' ? NOT_READY : UNREACHABLE, value: '', effect: 'NoExecute' }];
}
