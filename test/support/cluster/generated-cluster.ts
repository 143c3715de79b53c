// Clusters that look like real ones, from a seed: nodes of several sizes in zones, daemon sets, deployments with spread and affinity.

/** An object of the API. */
export type ApiObject = Readonly<Record<string, unknown>>;

export interface ClusterSize {
  readonly seed: number;
  readonly nodes: number;
  /** Left out: 30. */
  readonly podsPerNode?: number;
}

/** A number from 0 to below 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const ZONES = ['eu-1a', 'eu-1b', 'eu-1c'] as const;

/** Cores, GiB, and how many of a hundred nodes are of this size. */
const SIZES = [
  { type: 'small', cores: 4, gib: 16, share: 30 },
  { type: 'medium', cores: 16, gib: 64, share: 45 },
  { type: 'large', cores: 48, gib: 192, share: 15 },
  { type: 'memory', cores: 16, gib: 256, share: 8 },
  { type: 'gpu', cores: 32, gib: 128, share: 2 },
] as const;

const PRIORITIES = [
  { name: 'system-node-critical', value: 2_000_001_000 },
  { name: 'system-cluster-critical', value: 2_000_000_000 },
  { name: 'business', value: 100_000 },
  { name: 'standard', value: 1_000 },
  { name: 'batch', value: -100 },
] as const;

const DAEMONS = [
  { name: 'kube-proxy', milli: 100, mib: 64 },
  { name: 'network-agent', milli: 100, mib: 128 },
  { name: 'node-exporter', milli: 50, mib: 64 },
  { name: 'log-shipper', milli: 100, mib: 200 },
] as const;

interface Node {
  readonly name: string;
  readonly zone: string;
  readonly type: string;
  readonly milli: number;
  readonly mib: number;
  usedMilli: number;
  usedMib: number;
  pods: number;
}

const MAX_PODS = 110;

/** The same objects for the same seed, in the order nodes, classes, namespaces, and each owner before its pods. */
export function* generatedCluster({ seed, nodes: count, podsPerNode = 30 }: ClusterSize): Generator<ApiObject> {
  const random = randomFrom(seed);
  const nodes = Array.from({ length: count }, (_item, index) => nodeOf(index, random));
  for (const node of nodes) yield nodeObject(node);
  for (const { name, value } of PRIORITIES)
    yield { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, globalDefault: name === 'standard' };
  const namespaces = Array.from({ length: Math.max(3, Math.ceil(count / 25)) }, (_item, index) => `team-${String(index)}`);
  for (const name of ['kube-system', ...namespaces])
    yield { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } };
  for (const daemon of DAEMONS) yield* daemonSet(daemon, nodes);
  const wanted = count * podsPerNode;
  let made = count * DAEMONS.length;
  for (let index = 0; made < wanted; index += 1) {
    const replicas = Math.min(wanted - made, Math.max(1, Math.round(Math.exp(random() * 4.2))));
    yield* deployment(`app-${String(index)}`, namespaces[Math.floor(random() * namespaces.length)] ?? 'team-0', replicas, nodes, random);
    made += replicas;
  }
}

function nodeOf(index: number, random: () => number): Node {
  let left = random() * 100;
  const size = SIZES.find(({ share }) => (left -= share) < 0) ?? SIZES[1];
  return {
    name: `node-${String(index)}`,
    zone: ZONES[index % ZONES.length] ?? ZONES[0],
    type: index < 3 ? 'medium' : size.type,
    // What the system keeps for itself.
    milli: (index < 3 ? 16 : size.cores) * 1000 - 200,
    mib: (index < 3 ? 64 : size.gib) * 1024 - 700,
    usedMilli: 0,
    usedMib: 0,
    pods: 0,
  };
}

function nodeObject({ name, zone, type, milli, mib }: Node): ApiObject {
  const amounts = { cpu: `${String(milli)}m`, memory: `${String(mib * 1024)}Ki`, pods: String(MAX_PODS), 'ephemeral-storage': '200Gi' };
  const taints = type === 'gpu' ? { taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] } : {};
  const images = DAEMONS.map((daemon) => ({ names: [`registry.example/${daemon.name}:1.0`], sizeBytes: 80 * 1024 ** 2 }));
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { [HOST]: name, [ZONE]: zone, 'node.kubernetes.io/instance-type': type, 'kubernetes.io/os': 'linux' },
    },
    spec: taints,
    status: {
      capacity: { ...amounts, memory: String((mib + 700) * 1024 ** 2) },
      allocatable: type === 'gpu' ? { ...amounts, 'example.com/gpu': '4' } : amounts,
      conditions: [{ type: 'Ready', status: 'True' }],
      images,
    },
  };
}

interface Template {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: { readonly kind: string; readonly name: string };
  readonly spec: ApiObject;
}

function podObject({ namespace, labels, owner, spec }: Template, name: string, node: Node | undefined): ApiObject {
  const uid = `${namespace}-${name}`;
  const running = { phase: 'Running', startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid, labels, creationTimestamp: '2026-01-01T00:00:00Z' },
      ownerReferences: [{ apiVersion: 'apps/v1', ...owner, uid: `${namespace}-${owner.name}`, controller: true }],
    },
    spec: node === undefined ? spec : { ...spec, nodeName: node.name },
    status: node === undefined ? { phase: 'Pending' } : running,
  };
}

function containerOf(name: string, milli: number, mib: number): ApiObject {
  const requests = { cpu: `${String(milli)}m`, memory: `${String(mib)}Mi` };
  return { name, image: `registry.example/${name}:1.0`, resources: { requests, limits: { memory: requests.memory } } };
}

function* daemonSet({ name, milli, mib }: (typeof DAEMONS)[number], nodes: readonly Node[]): Generator<ApiObject> {
  const labels = { app: name };
  const owner = { kind: 'DaemonSet', name };
  const metadata = { name, namespace: 'kube-system' };
  yield { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector: { matchLabels: labels } }, status: {} };
  const spec = {
    containers: [containerOf(name, milli, mib)],
    ...{ priority: PRIORITIES[0].value, priorityClassName: PRIORITIES[0].name, tolerations: [{ operator: 'Exists' }] },
  };
  for (const node of nodes) {
    take(node, milli, mib);
    yield podObject({ namespace: 'kube-system', labels, owner, spec }, `${name}-${node.name}`, node);
  }
}

function take(node: Node, milli: number, mib: number): void {
  node.usedMilli += milli;
  node.usedMib += mib;
  node.pods += 1;
}

function* deployment(
  name: string,
  namespace: string,
  replicas: number,
  nodes: readonly Node[],
  random: () => number,
): Generator<ApiObject> {
  const labels = { app: name, tier: random() < 0.5 ? 'web' : 'worker' };
  const milli = [50, 100, 250, 500, 1000][Math.floor(random() * 5)] ?? 100;
  const mib = [64, 128, 256, 512, 1024, 2048][Math.floor(random() * 6)] ?? 128;
  const { spec, spreads } = templateSpec(name, labels, milli, mib, replicas, random);
  const owner = { kind: 'ReplicaSet', name: `${name}-5d4f` };
  const selector = { matchLabels: labels };
  const metadata = { name: owner.name, namespace };
  yield { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { replicas, selector }, status: { replicas } };
  if (random() < 0.5) yield { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { selector: labels } };
  if (replicas >= 3 && random() < 0.7) yield budgetObject(name, namespace, selector, replicas);
  const chosen = new Set<Node>();
  const start = Math.floor(random() * nodes.length);
  for (let index = 0; index < replicas; index += 1) {
    const node = nodeFor(nodes, start + index, milli, mib, spreads ? chosen : new Set(), spreads ? ZONES[index % ZONES.length] : undefined);
    if (node !== undefined) {
      take(node, milli, mib);
      chosen.add(node);
    }
    yield podObject({ namespace, labels, owner, spec }, `${owner.name}-${index.toString(36).padStart(5, 'x')}`, node);
  }
}

function budgetObject(name: string, namespace: string, selector: ApiObject, replicas: number): ApiObject {
  const desiredHealthy = replicas - Math.max(1, Math.floor(replicas / 5));
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace, generation: 1 },
    spec: { maxUnavailable: replicas - desiredHealthy, selector },
    status: {
      ...{ currentHealthy: replicas, desiredHealthy, expectedPods: replicas },
      ...{ disruptionsAllowed: replicas - desiredHealthy, observedGeneration: 1 },
    },
  };
}

/** `spreads`: no two of its pods on a node, and as many in each zone. */
function templateSpec(
  name: string,
  labels: Readonly<Record<string, string>>,
  milli: number,
  mib: number,
  replicas: number,
  random: () => number,
): { readonly spec: ApiObject; readonly spreads: boolean } {
  const kind = random();
  const spreads = kind < 0.15 && replicas <= 12;
  const labelSelector = { matchLabels: { app: labels.app } };
  const constraint = { maxSkew: 1, topologyKey: ZONE, labelSelector };
  const term = { labelSelector, topologyKey: HOST };
  const more: ApiObject = spreads
    ? {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
        topologySpreadConstraints: [{ ...constraint, whenUnsatisfiable: 'DoNotSchedule' }],
      }
    : kind < 0.4
      ? { topologySpreadConstraints: [{ ...constraint, maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' }] }
      : kind < 0.6
        ? { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] } } }
        : {};
  const priority = PRIORITIES[2 + Math.floor(random() * 3)] ?? PRIORITIES[3];
  const tolerations = ['not-ready', 'unreachable'].map((key) => ({
    ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  }));
  const containers = [containerOf(name, milli, mib)];
  return { spreads, spec: { containers, priority: priority.value, priorityClassName: priority.name, tolerations, ...more } };
}

/** The next node with room, from this one on. */
function nodeFor(
  nodes: readonly Node[],
  from: number,
  milli: number,
  mib: number,
  without: ReadonlySet<Node>,
  zone: string | undefined,
): Node | undefined {
  for (let step = 0; step < nodes.length; step += 1) {
    const node = nodes[(from + step * 7) % nodes.length];
    if (node === undefined || node.type === 'gpu' || without.has(node) || (zone !== undefined && node.zone !== zone)) continue;
    if (node.usedMilli + milli <= node.milli && node.usedMib + mib <= node.mib && node.pods < MAX_PODS) return node;
  }
  return undefined;
}
