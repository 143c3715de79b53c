import type { FakeApiServer } from './api-server.js';
import { NODE } from './node-authorizer.js';
import type { ApiObject, Change } from './objects.js';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

interface Taint {
  readonly key: string;
  readonly effect: string;
}

const TAINT: Taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };
const OWN: Condition = { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' };

/** As measured with v1.36.2: the taint comes so long after the condition, and goes so long after the kubelet has rewritten it. */
const COMES_MS = 200;
const GOES_MS = 130;
/** The kubelet reports at each change of its own, at the latest after 10 s. Tests wait less. */
const REPORTS_MS = 400;

/**
 * A kubelet with enough memory, and the node lifecycle controller: MemoryPressure=True of another program leads to the taint, and the
 * kubelet rewrites the condition.
 *
 * @returns ends both
 */
export function startKubelet({ store }: Pick<FakeApiServer, 'store'>): () => void {
  const timers = new Set<NodeJS.Timeout>();
  const after = (ms: number, act: (node: ApiObject) => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const node = store.get('nodes', undefined, NODE);
      if (node !== undefined) act(node);
    }, ms);
    timers.add(timer);
  };
  const put = (node: ApiObject, part: 'spec' | 'status', fields: object): void => {
    store.put('nodes', { ...node, [part]: { ...node[part], ...fields } });
  };
  const unwatch = store.watch(({ resource, object, before }: Change) => {
    if (resource !== 'nodes' || object.metadata.name !== NODE) return;
    const is = isUnderPressure(object);
    if (is === (before !== undefined && isUnderPressure(before))) return;
    if (is) after(REPORTS_MS, (node) => put(node, 'status', { conditions: [...conditionsOf(node).filter((one) => !isOwn(one)), OWN] }));
    after(is ? COMES_MS : GOES_MS, (node) => {
      const others = ((node.spec?.taints ?? []) as readonly Taint[]).filter(({ key }) => key !== TAINT.key);
      put(node, 'spec', { taints: isUnderPressure(node) ? [...others, TAINT] : others });
    });
  });
  return () => {
    unwatch();
    for (const timer of timers) clearTimeout(timer);
  };
}

function conditionsOf({ status }: ApiObject): readonly Condition[] {
  return (status?.conditions ?? []) as readonly Condition[];
}

function isOwn({ type }: Condition): boolean {
  return type === OWN.type;
}

function isUnderPressure(node: ApiObject): boolean {
  return conditionsOf(node).some((one) => isOwn(one) && one.status === 'True');
}
