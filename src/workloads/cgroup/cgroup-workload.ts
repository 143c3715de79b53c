import type {
  ContainerStats,
  OomPreference,
  Protection,
  QosClass,
  VolumeStats,
  Workload,
  WorkloadStats,
  WorkloadUsage,
} from '../../core/workload/workload.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { KubernetesPart } from '../../core/kubernetes/kubernetes-part.js';
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import { ALL_MEMORY, type CgroupSample } from './cgroup-files.js';
import { tolerationsPart } from '../workload-rules.js';
import type { Member } from './source-root.js';
import { NANO } from '../../core/quantity/integer.js';

const NO_CONTAINERS: readonly ContainerStats[] = [];
const NO_VOLUMES: readonly VolumeStats[] = [];

/** Facts about a cgroup besides its usage. */
interface CgroupFacts {
  readonly oomPreference: OomPreference | undefined;
  readonly protection: Protection | undefined;
  /** undefined: unknown to systemd, or not asked. */
  readonly loaded: LoadedUnit | undefined;
  /** undefined: not reported by a container runtime. */
  readonly runtime: RuntimePart | undefined;
  /** undefined: not reported by the API server of a cluster. */
  readonly pod?: NodePod | undefined;
}

/** The workloads as they were last. A pass builds only those of which a fact has changed. */
export class KnownWorkloads {
  readonly #known = new WeakMap<Member, CgroupFacts & { readonly guaranteedBytes: bigint | undefined; readonly workload: Workload }>();

  of(member: Member, sample: CgroupSample, facts: CgroupFacts): Workload {
    const known = this.#known.get(member);
    const { oomPreference, protection, loaded, runtime, pod } = facts;
    const { guaranteedBytes } = sample;
    const isSame =
      known?.oomPreference === oomPreference &&
      known?.protection === protection &&
      known?.runtime === runtime &&
      known?.pod === pod &&
      known?.guaranteedBytes === guaranteedBytes &&
      known?.loaded?.activeState === loaded?.activeState &&
      known?.loaded?.timeoutStopNs === loaded?.timeoutStopNs &&
      known?.loaded?.memoryMinBytes === loaded?.memoryMinBytes &&
      known?.loaded?.memoryLowBytes === loaded?.memoryLowBytes;
    if (known !== undefined && isSame) return known.workload;
    const workload = workloadOf(member, sample, facts);
    this.#known.set(member, { ...facts, guaranteedBytes, workload });
    return workload;
  }
}

/** A cgroup as a workload. Without a rule its request is what the kernel guarantees. */
function workloadOf(
  member: Member,
  { guaranteedBytes }: CgroupSample,
  { oomPreference, protection, loaded, runtime, pod }: CgroupFacts,
): Workload {
  const { name, path, id, effect, limitBytes, unit, isSession } = member;
  const requestBytes = effect.requestsMemory ?? guaranteedBytes ?? guaranteedTo(loaded);
  const kubernetes = pod && kubernetesPartOf(pod);
  const reported = kubernetes ?? runtime;
  return {
    id: `${path}#${String(id)}`,
    name,
    path,
    priority: effect.priority ?? reported?.priority ?? 0,
    ...preferenceParts(oomPreference, isSession, effect.priority),
    requests:
      pod && effect.requestsMemory === undefined
        ? pod.workload.requests
        : { memory: requestBytes * NANO, ephemeralStorage: 0n, inodes: 0n },
    limits: { memory: limitBytes === undefined ? undefined : limitBytes * NANO, ephemeralStorage: undefined },
    qosClass: pod?.workload.qosClass ?? qosClass(requestBytes, limitBytes),
    terminationGracePeriodNs: reported
      ? graceOfPod(effect, reported, loaded)
      : graceOf(effect.terminationGracePeriodNs, loaded?.timeoutStopNs),
    startOrder: id,
    protection,
    pod: undefined,
    ...(unit && reported === undefined && { unit: { name: unit.name, manager: unit.manager, ...stateOf(loaded) } }),
    ...(runtime && { runtime }),
    ...(kubernetes && { kubernetes }),
    ...(effect.directories.length > 0 && { directories: effect.directories }),
    ...tolerationsPart(effect, pod?.workload.pod?.tolerations),
  };
}

/** systemd.unit(5): a unit that reloads or refreshes its mounts is up. */
function stateOf(loaded: LoadedUnit | undefined): { readonly state?: string } {
  const isUp = loaded === undefined || ['active', 'reloading', 'refreshing'].includes(loaded.activeState);
  return isUp ? {} : { state: loaded.activeState };
}

/** The runtime or the kubelet ends a pod; the timeout of its systemd scope counts only if nothing else is set. */
function graceOfPod(
  effect: Member['effect'],
  reported: Pick<RuntimePart, 'terminationGracePeriodNs'>,
  loaded: LoadedUnit | undefined,
): bigint | undefined {
  return effect.terminationGracePeriodNs ?? reported.terminationGracePeriodNs ?? loaded?.timeoutStopNs;
}

function kubernetesPartOf({ uid, namespace, name, labels, owner, workload, deletionSeconds }: NodePod): KubernetesPart {
  const given = workload.terminationGracePeriodNs;
  const left = deletionSeconds === undefined ? undefined : BigInt(deletionSeconds) * NANO;
  const grace = given === undefined || (left !== undefined && left < given) ? left : given;
  const { priority } = workload;
  const more = { ...(owner && { owner }), ...(grace !== undefined && { terminationGracePeriodNs: grace }) };
  return { uid, namespace, name, labels, priority, ...more };
}

/** The grace period, at most systemd's timeout, after which systemd kills the unit anyway. */
function graceOf(givenNs: bigint | undefined, timeoutStopNs: bigint | undefined): bigint | undefined {
  return givenNs === undefined || (timeoutStopNs !== undefined && timeoutStopNs < givenNs) ? timeoutStopNs : givenNs;
}

/** What systemd is configured to guarantee, even if the kernel (v1) does not. */
function guaranteedTo(loaded: LoadedUnit | undefined): bigint {
  if (loaded === undefined) return 0n;
  const { memoryMinBytes = ALL_MEMORY, memoryLowBytes = ALL_MEMORY } = loaded;
  return memoryMinBytes > memoryLowBytes ? memoryMinBytes : memoryLowBytes;
}

/** A rule's priority wins over `avoid`. */
export function preferenceParts(
  oomPreference: OomPreference | undefined,
  isSession: boolean,
  priority: number | undefined,
): Pick<Workload, 'oomPreference' | 'avoid'> {
  const isAvoided = (isSession || oomPreference === 'avoid') && priority === undefined;
  return { ...(oomPreference && { oomPreference }), ...(isAvoided && { avoid: true }) };
}

/** The class of a pod with one container with this request and limit (undefined: none) for every resource. */
export function qosClass(requestBytes: bigint, limitBytes: bigint | undefined): QosClass {
  if (requestBytes === 0n) return 'BestEffort';
  return limitBytes !== undefined && requestBytes >= limitBytes ? 'Guaranteed' : 'Burstable';
}

export function usageOf(
  workload: Workload,
  { workingSetBytes, staysBytes, usageBytes, swapBytes, workingSetAtMost }: CgroupSample,
): WorkloadUsage {
  const stats: { -readonly [Key in keyof WorkloadStats]: WorkloadStats[Key] } = {
    workingSetBytes,
    usageBytes,
    processes: undefined,
    ephemeralStorageBytes: undefined,
    containers: NO_CONTAINERS,
    volumes: NO_VOLUMES,
  };
  if (staysBytes > 0n) stats.staysBytes = staysBytes;
  if (swapBytes > 0n) stats.swapBytes = swapBytes;
  if (workingSetAtMost) stats.workingSetAtMost = workingSetAtMost;
  return { workload, stats };
}
