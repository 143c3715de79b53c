// The claims of pods in the scheduler's steps (pkg/scheduler, plugin DynamicResources, v1.36).
import { matchesTerm, type NamedNode } from '../scheduling/node-affinity.js';
import { allocate, type AllocationOutcome, type DeviceSupply } from './allocate.js';
import type { SliceIndex } from './device-pool.js';
import { deviceId, type DeviceClass, type DeviceId } from './device.js';
import { claimKey, type Allocation, type ClaimSpec, type PodClaim, type ResourceClaim } from './resource-claim.js';

export interface ClaimingPod {
  readonly namespace: string;
  readonly name: string;
  /** '': it is not in the API, and its claims are made when it comes. */
  readonly uid: string;
  readonly resourceClaims: readonly PodClaim[];
}

/** Everything that a cluster says of devices. Replaced when a claim changes. */
export interface ClusterDevices {
  readonly slices: SliceIndex;
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** ResourceClaimTemplates by namespace/name. */
  readonly templates: ReadonlyMap<string, ClaimSpec>;
  /** Claims by namespace/name. */
  readonly claims: ReadonlyMap<string, ResourceClaim>;
}

/** `rejected`: for good, as preemption does not help. `error`: a claim, a class or an expression is wrong. */
export interface ClaimRejection {
  readonly kind: 'rejected' | 'error';
  readonly message: string;
}

/** PreFilter: the claims of a pod, looked up. */
export interface PreparedClaims {
  readonly kind: 'prepared';
  readonly claims: readonly ResourceClaim[];
  readonly supply: DeviceSupply;
}

/** undefined: the pod has no claims. */
export function prepareClaims(devices: ClusterDevices, pod: ClaimingPod): PreparedClaims | ClaimRejection | undefined {
  const claims: ResourceClaim[] = [];
  for (const podClaim of pod.resourceClaims) {
    const claim = claimOf(devices, pod, podClaim);
    if (typeof claim === 'string') return { kind: 'rejected', message: claim };
    if (claim !== undefined) claims.push(claim);
  }
  if (claims.length === 0) return undefined;
  for (const claim of claims) {
    const message = claim.allocation === undefined ? missingClass(claim.spec, devices.classes) : consumersMessage(claim, pod);
    if (message !== undefined) return { kind: 'rejected', message };
  }
  return { kind: 'prepared', claims, supply: { slices: devices.slices, classes: devices.classes, inUse: devicesInUse(devices.claims) } };
}

/** A claim that is made from a template when the pod comes, or the message why there is none. undefined: none is needed. */
function claimOf(devices: ClusterDevices, pod: ClaimingPod, { name, source }: PodClaim): ResourceClaim | string | undefined {
  const { namespace } = pod;
  if (source.kind === 'claim') return existing(devices, pod, source.name);
  if (source.generated === '') return undefined;
  const found = source.generated === undefined ? undefined : devices.claims.get(claimKey({ namespace, name: source.generated }));
  if (found !== undefined && pod.uid !== '') {
    if (found.ownerUid === pod.uid) return existing(devices, pod, found.name);
    return `ResourceClaim ${claimKey(found)} was not created for pod ${claimKey(pod)} (pod is not owner)`;
  }
  const spec = devices.templates.get(claimKey({ namespace, name: source.name }));
  if (spec === undefined) return `pod ${JSON.stringify(claimKey(pod))}: ResourceClaim not created yet`;
  const made = { namespace, name: `${pod.name}-${name}`, spec, ownerUid: consumerOf(pod) };
  return { ...made, isDeleting: false, allocation: undefined, reservedFor: [] };
}

/** How claims know a pod. */
function consumerOf(pod: ClaimingPod): string {
  return pod.uid === '' ? claimKey(pod) : pod.uid;
}

function existing(devices: ClusterDevices, { namespace }: ClaimingPod, name: string): ResourceClaim | string {
  const key = claimKey({ namespace, name });
  const claim = devices.claims.get(key);
  if (claim === undefined) return `could not find ResourceClaim ${JSON.stringify(key)}`;
  return claim.isDeleting ? `resourceclaim ${JSON.stringify(name)} is being deleted` : claim;
}

/** The most consumers of a claim (ResourceClaimReservedForMaxSize). */
const MAX_CONSUMERS = 256;

function consumersMessage({ reservedFor }: ResourceClaim, pod: ClaimingPod): string | undefined {
  return reservedFor.length < MAX_CONSUMERS || reservedFor.includes(consumerOf(pod)) ? undefined : 'resourceclaim in use';
}

function missingClass({ requests }: ClaimSpec, classes: ReadonlyMap<string, DeviceClass>): string | undefined {
  const named = requests.flatMap((request) =>
    request.kind === 'exactly'
      ? [[request.name, request.exactly.deviceClassName] as const]
      : request.firstAvailable.map((sub) => [`${request.name}/${sub.name}`, sub.deviceClassName] as const),
  );
  const [request, name] = named.find(([, deviceClassName]) => !classes.has(deviceClassName)) ?? [];
  return request === undefined ? undefined : `request ${request}: device class ${name ?? ''} does not exist`;
}

/** Admin access does not use a device up. */
function devicesInUse(claims: ReadonlyMap<string, ResourceClaim>): ReadonlySet<DeviceId> {
  const used = new Set<DeviceId>();
  for (const { allocation } of claims.values())
    for (const { driver, pool, device, adminAccess } of allocation?.devices ?? [])
      if (!adminAccess) used.add(deviceId(driver, pool, device));
  return used;
}

/** What the claims of a pod without allocation get on a node, in their order. */
export interface ClaimsFit {
  readonly kind: 'fits';
  readonly allocations: readonly Allocation[];
}

const NOTHING: AllocationOutcome = { kind: 'allocated', allocations: [] };

export function filterClaims({ claims, supply }: PreparedClaims, node: NamedNode): ClaimsFit | ClaimRejection {
  const missing = unallocated(claims);
  const outcome = missing.length === 0 ? NOTHING : allocate(missing, supply, node);
  if (outcome.kind !== 'allocated') return { kind: outcome.kind === 'error' ? 'error' : 'rejected', message: outcome.message };
  return claims.some((claim) => isElsewhere(claim, node))
    ? { kind: 'rejected', message: 'resourceclaim not available on the node' }
    : { kind: 'fits', allocations: outcome.allocations };
}

/** Allocated, but not for this node. */
function isElsewhere({ allocation }: ResourceClaim, node: NamedNode): boolean {
  return allocation?.nodeTerms?.some((term) => matchesTerm(term, node)) === false;
}

function unallocated(claims: readonly ResourceClaim[]): readonly ResourceClaim[] {
  return claims.filter(({ allocation }) => allocation === undefined);
}

/** The most entries of firstAvailable. */
const MAX_SUBREQUESTS = 8;

/** Score, to be normalised: the earlier the entries of prioritised lists that a node satisfies, the higher. */
export function scoreClaims({ claims }: PreparedClaims, { allocations }: ClaimsFit): number {
  let score = 0;
  for (const [index, { spec }] of unallocated(claims).entries()) {
    const requests = new Set(allocations[index]?.devices.map(({ request }) => request));
    for (const request of spec.requests)
      if (request.kind === 'firstAvailable')
        for (const [place, { name }] of request.firstAvailable.entries())
          if (requests.has(`${request.name}/${name}`)) score += MAX_SUBREQUESTS - place;
  }
  return score;
}

/** Reserve and PreBind: the devices are the claims', and the claims have the pod as a consumer. */
export function reserveClaims(
  devices: ClusterDevices,
  pod: ClaimingPod,
  { claims }: PreparedClaims,
  { allocations }: ClaimsFit,
): ClusterDevices {
  const changed = new Map(devices.claims);
  const given = allocations.values();
  for (const claim of claims) {
    const allocation = claim.allocation ?? given.next().value;
    changed.set(claimKey(claim), { ...claim, allocation, reservedFor: [...new Set([...claim.reservedFor, consumerOf(pod)])] });
  }
  return { ...devices, claims: changed };
}

/**
 * PostFilter: of the claims that are allocated elsewhere, the first that no other pod has gives its devices back. The scheduler
 * takes any of them.
 *
 * @param nodes  that DynamicResources has rejected
 * @returns undefined: there is no such claim
 */
export function deallocateClaim(devices: ClusterDevices, pod: ClaimingPod, nodes: readonly NamedNode[]): ClusterDevices | undefined {
  const prepared = prepareClaims(devices, pod);
  if (prepared?.kind !== 'prepared') return undefined;
  const isOwn = ({ reservedFor }: ResourceClaim): boolean => reservedFor.every((consumer) => consumer === consumerOf(pod));
  const claim = prepared.claims.find((each) => isOwn(each) && nodes.some((node) => isElsewhere(each, node)));
  return (
    claim && { ...devices, claims: new Map([...devices.claims, [claimKey(claim), { ...claim, allocation: undefined, reservedFor: [] }]]) }
  );
}

/**
 * What the end of a pod gives back (pkg/controller/resourceclaim, v1.36): a claim that was made for it ends with it, and
 * another claim gives its devices back when its last consumer is gone.
 */
export function releaseClaims(devices: ClusterDevices, pod: ClaimingPod): ClusterDevices {
  const consumer = consumerOf(pod);
  const concerned = [...devices.claims].filter(([, claim]) => claim.ownerUid === consumer || claim.reservedFor.includes(consumer));
  if (concerned.length === 0) return devices;
  const changed = new Map(devices.claims);
  for (const [key, claim] of concerned) {
    const reservedFor = claim.reservedFor.filter((other) => other !== consumer);
    if (claim.ownerUid === consumer) changed.delete(key);
    else changed.set(key, { ...claim, reservedFor, allocation: reservedFor.length === 0 ? undefined : claim.allocation });
  }
  return { ...devices, claims: changed };
}
