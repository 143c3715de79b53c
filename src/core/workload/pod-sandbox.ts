import { normalCgroupPath, withAncestors } from './cgroup.js';
import { isSliceName, slicePath } from '../systemd/unit.js';
import { NS_PER_SECOND } from '../quantity/duration.js';

/** A pod as a container runtime reports it (CRI v1, PodSandbox), with its running containers. */
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

/** What only a workload of a container runtime has. */
export interface RuntimePart {
  /** 'unix:///run/containerd/containerd.sock'. */
  readonly endpoint: string;
  /** The sandbox's id. */
  readonly podId: string;
  /** Ids of its containers that run. */
  readonly containers: readonly string[];
  /** The whole pod, not one of its containers. */
  readonly isPod: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** The priority in the annotation. Left out: none. */
  readonly priority?: number;
  /** The longest of its containers. Left out: none. */
  readonly terminationGracePeriodNs?: bigint;
  /** A kubelet manages the endpoint: it restarts pods and evicts by itself. */
  readonly byKubelet: boolean;
}

/** A pod with a cgroup of its own, or one of its containers. */
export interface RuntimeWorkload {
  /** 'NAMESPACE/POD', or 'NAMESPACE/POD/CONTAINER'. */
  readonly name: string;
  readonly path: string;
  readonly runtime: RuntimePart;
}

/** The priority of a pod or a container: an integer of 32 bits. */
const PRIORITY_ANNOTATION = 'evictd.dev/priority';
/** Seconds. The kubelet annotates containers with it (pkg/kubelet/kuberuntime/labels.go, v1.36.2). */
const GRACE_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod';

/**
 * The workloads of one runtime. A pod is a workload if a cgroup bears its uid, as a kubelet names them, and no other
 * pod has a container in it. Otherwise each of its containers is one, so that a cgroup shared by pods is never
 * attributed to one of them.
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

/** The pods with a container at or below each cgroup. */
function podsByCgroup(pods: readonly PodSandbox[]): ReadonlyMap<string, ReadonlySet<PodSandbox>> {
  const found = new Map<string, Set<PodSandbox>>();
  for (const pod of pods) {
    for (const { cgroupsPath } of pod.containers) {
      for (const path of withAncestors(cgroupOf(cgroupsPath) ?? '/')) found.set(path, (found.get(path) ?? new Set()).add(pod));
    }
  }
  return found;
}

/** The path below the mount; undefined: the name lacks the container's id, so the cgroup may belong to another container. */
export function containerCgroup({ id, cgroupsPath }: Pick<SandboxContainer, 'id' | 'cgroupsPath'>): string | undefined {
  const path = cgroupOf(cgroupsPath);
  return path !== undefined && id.length >= SHORTEST_ID && lastOf(path).includes(id) ? path : undefined;
}

function cgroupOf(cgroupsPath: string): string | undefined {
  if (cgroupsPath.includes(':')) return scopePath(cgroupsPath);
  return cgroupsPath.startsWith('/') ? normalCgroupPath(cgroupsPath) : undefined;
}

/** Runtimes use 64 digits. */
const SHORTEST_ID = 12;

/** 'SLICE:PREFIX:NAME' as runc reads it (libcontainer/cgroups/systemd, v1.1); the default slice is system.slice. */
function scopePath(cgroupsPath: string): string | undefined {
  const [slice = '', prefix = '', name = '', ...rest] = cgroupsPath.split(':');
  if (rest.length > 0 || name === '' || name.endsWith('.slice')) return undefined;
  const parent = slice === '' ? 'system.slice' : slice;
  if (!isSliceName(parent)) return undefined;
  const above = slicePath(parent);
  return `${above === '/' ? '' : above}/${prefix === '' ? name : `${prefix}-${name}`}.scope`;
}

/**
 * The common parent of its containers, if it bears the pod's uid ('pod' + uid; systemd: '…-podUID.slice' with _ for -).
 */
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

const MAX_INT32 = 2 ** 31 - 1;

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,10}$/.test(text)) return undefined;
  const number = Number(text);
  return number > MAX_INT32 || number < -MAX_INT32 - 1 ? undefined : number;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
