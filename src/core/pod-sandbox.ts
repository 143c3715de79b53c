import { normalCgroupPath, withAncestors } from './cgroup.js';
import { isSliceName, slicePath } from './unit.js';

/** What a container runtime tells of one pod (CRI v1, PodSandbox), with the containers of it that run. */
export interface PodSandbox {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly containers: readonly SandboxContainer[];
}

export interface SandboxContainer {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** linux.cgroupsPath of its OCI specification: '/k8s.io/ID' (cgroupfs), 'SLICE:PREFIX:ID' (systemd). */
  readonly cgroupsPath: string;
}

/** What only the workload of a container runtime has. */
export interface RuntimePart {
  /** 'unix:///run/containerd/containerd.sock'. */
  readonly endpoint: string;
  /** The sandbox's id. */
  readonly podId: string;
  /** Ids of its containers that run. */
  readonly containers: readonly string[];
  /** It is the pod as a whole, and not one of its containers. */
  readonly isPod: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** As annotated; left out: it is not. */
  readonly priority?: number;
  /** As its containers ask for: the longest. Left out: none of them does. */
  readonly terminationGracePeriodNs?: bigint;
  /** A kubelet manages its endpoint: it makes again what goes, and evicts by itself. */
  readonly byKubelet: boolean;
}

/** A pod with a cgroup of its own, or else one of its containers. */
export interface RuntimeWorkload {
  /** 'NAMESPACE/POD', or 'NAMESPACE/POD/CONTAINER'. */
  readonly name: string;
  readonly path: string;
  readonly runtime: RuntimePart;
}

/** By which a pod, or one of its containers, says how important it is: a whole number of 32 bits. */
export const PRIORITY_ANNOTATION = 'evictd.dev/priority';
/** Seconds; the kubelet writes it on containers (pkg/kubelet/kuberuntime/labels.go, v1.36.2). */
export const GRACE_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod';

/**
 * The workloads of one runtime. A pod is one where it has a cgroup of its own: one that bears its uid, as a kubelet names them, and in which no other pod has anything. Else its containers
 * are, each for itself: what several pods may share is never taken for one of them.
 *
 * @param byKubelet  a kubelet manages them
 */
export function runtimeWorkloads(endpoint: string, pods: readonly PodSandbox[], byKubelet: boolean): RuntimeWorkload[] {
  const source = { endpoint, byKubelet };
  const inhabitants = podsByCgroup(pods);
  return pods.flatMap((pod): RuntimeWorkload[] => {
    const name = `${pod.namespace}/${pod.name}`;
    const path = podCgroup(pod);
    if (path !== undefined && inhabitants.get(path)?.size === 1) {
      return [{ name, path, runtime: partOf(source, pod, pod.containers, true) }];
    }
    return pod.containers.flatMap((container): RuntimeWorkload[] => {
      const of = containerCgroup(container);
      return of === undefined ? [] : [{ name: `${name}/${container.name}`, path: of, runtime: partOf(source, pod, [container], false) }];
    });
  });
}

/** Which pods have a container at or below a cgroup, whether or not that bears the container's id. */
function podsByCgroup(pods: readonly PodSandbox[]): ReadonlyMap<string, ReadonlySet<PodSandbox>> {
  const found = new Map<string, Set<PodSandbox>>();
  for (const pod of pods) {
    for (const { cgroupsPath } of pod.containers) {
      for (const path of withAncestors(cgroupOf(cgroupsPath) ?? '/')) found.set(path, (found.get(path) ?? new Set()).add(pod));
    }
  }
  return found;
}

/** Below the mount; undefined: its name does not have the container's id, so that it may be anybody's. */
export function containerCgroup({ id, cgroupsPath }: Pick<SandboxContainer, 'id' | 'cgroupsPath'>): string | undefined {
  const path = cgroupOf(cgroupsPath);
  return path !== undefined && id.length >= SHORTEST_ID && lastOf(path).includes(id) ? path : undefined;
}

function cgroupOf(cgroupsPath: string): string | undefined {
  if (cgroupsPath.includes(':')) return scopePath(cgroupsPath);
  return cgroupsPath.startsWith('/') ? normalCgroupPath(cgroupsPath) : undefined;
}

/** Those of runtimes have 64 digits. */
const SHORTEST_ID = 12;

/** 'SLICE:PREFIX:NAME', as runc reads it (libcontainer/cgroups/systemd, v1.1): without a slice it is system.slice. */
function scopePath(cgroupsPath: string): string | undefined {
  const [slice = '', prefix = '', name = '', ...rest] = cgroupsPath.split(':');
  if (rest.length > 0 || name === '' || name.endsWith('.slice')) return undefined;
  const parent = slice === '' ? 'system.slice' : slice;
  if (!isSliceName(parent)) return undefined;
  const above = slicePath(parent);
  return `${above === '/' ? '' : above}/${prefix === '' ? name : `${prefix}-${name}`}.scope`;
}

/** The one that all its containers are in, where it is called after the pod ('pod' + uid; systemd: '…-podUID.slice' with _ for -). */
function podCgroup({ uid, containers }: PodSandbox): string | undefined {
  const parents = new Set(containers.map((container) => containerCgroup(container)?.replace(/\/[^/]*$/, '')));
  const [parent] = parents;
  if (parents.size !== 1 || parent === undefined || uid === '') return undefined;
  const name = lastOf(parent);
  const isOwn = name === `pod${uid}` || name.endsWith(`-pod${uid.replaceAll('-', '_')}.slice`);
  return isOwn ? parent : undefined;
}

function partOf(
  { endpoint, byKubelet }: Pick<RuntimePart, 'endpoint' | 'byKubelet'>,
  pod: PodSandbox,
  containers: readonly SandboxContainer[],
  isPod: boolean,
): RuntimePart {
  const own = isPod ? {} : containers[0]?.labels;
  const priority = [pod, ...containers].flatMap(({ annotations }) => wholeNumber(annotations[PRIORITY_ANNOTATION]) ?? [])[0];
  const graces = [pod, ...containers].flatMap(({ annotations }) => wholeNumber(annotations[GRACE_ANNOTATION]) ?? []);
  const grace = graces
    .filter((seconds) => seconds >= 0)
    .reduce<number | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);
  return {
    endpoint,
    podId: pod.id,
    containers: containers.map(({ id }) => id),
    isPod,
    labels: { ...own, ...pod.labels },
    ...(priority !== undefined && { priority }),
    ...(grace !== undefined && { terminationGracePeriodNs: BigInt(grace) * NS_PER_SECOND }),
    byKubelet,
  };
}

const NS_PER_SECOND = 1_000_000_000n;
const MAX_INT32 = 2 ** 31 - 1;

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,10}$/.test(text)) return undefined;
  const number = Number(text);
  return number > MAX_INT32 || number < -MAX_INT32 - 1 ? undefined : number;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
