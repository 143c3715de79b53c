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
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import { ALL_MEMORY, type CgroupSample } from './cgroup-files.js';
import { tolerationsPart } from '../workload-rules.js';
import type { Member } from './source-root.js';

const NANO = 1_000_000_000n;
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
}

/** The workloads as they were last. A pass builds only those of which a fact has changed. */
export class KnownWorkloads {
  readonly #known = new WeakMap<Member, CgroupFacts & { readonly guaranteedBytes: bigint | undefined; readonly workload: Workload }>();

  of(member: Member, sample: CgroupSample, facts: CgroupFacts): Workload {
    const known = this.#known.get(member);
    const { oomPreference, protection, loaded, runtime } = facts;
    const { guaranteedBytes } = sample;
    const isSame =
      known?.oomPreference === oomPreference &&
      known?.protection === protection &&
      known?.runtime === runtime &&
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
  { oomPreference, protection, loaded, runtime }: CgroupFacts,
): Workload {
  const { name, path, id, effect, limitBytes, unit, isSession } = member;
  const requestBytes = effect.requestsMemory ?? guaranteedBytes ?? guaranteedTo(loaded);
  return {
    id: `${path}#${String(id)}`,
    name,
    path,
    priority: effect.priority ?? runtime?.priority ?? 0,
    ...preferenceParts(oomPreference, isSession, effect.priority),
    requests: { memory: requestBytes * NANO, ephemeralStorage: 0n, inodes: 0n },
    limits: { memory: limitBytes === undefined ? undefined : limitBytes * NANO, ephemeralStorage: undefined },
    qosClass: qosClass(requestBytes, limitBytes),
    terminationGracePeriodNs: runtime
      ? graceOfPod(effect, runtime, loaded)
      : graceOf(effect.terminationGracePeriodNs, loaded?.timeoutStopNs),
    startOrder: id,
    protection,
    pod: undefined,
    ...(unit && runtime === undefined && { unit: { name: unit.name, manager: unit.manager, ...stateOf(loaded) } }),
    ...(runtime && { runtime }),
    ...(effect.directories.length > 0 && { directories: effect.directories }),
    ...tolerationsPart(effect),
  };
}

/** systemd.unit(5): a unit that reloads or refreshes its mounts is up. */
function stateOf(loaded: LoadedUnit | undefined): { readonly state?: string } {
  const isUp = loaded === undefined || ['active', 'reloading', 'refreshing'].includes(loaded.activeState);
  return isUp ? {} : { state: loaded.activeState };
}

/** The runtime ends a pod; the timeout of its systemd scope counts only if nothing else is set. */
function graceOfPod(effect: Member['effect'], runtime: RuntimePart, loaded: LoadedUnit | undefined): bigint | undefined {
  return effect.terminationGracePeriodNs ?? runtime.terminationGracePeriodNs ?? loaded?.timeoutStopNs;
}

/** At most systemd's timeout, after which systemd kills the unit anyway. */
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

/** As for a pod with one container with this request and limit (undefined: none) for every resource. */
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
