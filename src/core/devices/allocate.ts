// Devices for the claims of a pod on one node (dynamic-resource-allocation, structured: Allocator.Allocate, v1.36).
import { findMatchingUntoleratedTaint } from '../disruption/toleration.js';
import type { NamedNode, NodeSelectorTerm } from '../scheduling/node-affinity.js';
import { ConstraintState, type RequestNames } from './device-constraint.js';
import { selectsNode, type Candidate, type DevicePool, type NodeDevices, type SliceIndex } from './device-pool.js';
import { SelectorError, type DeviceClass, type DeviceId, type DeviceSelector, type NodeSelection, type PublishedDevice } from './device.js';
import { claimKey, type Allocation, type DeviceRequest, type ExactRequest, type ResourceClaim } from './resource-claim.js';
import { CounterBalance } from './shared-counters.js';

/** The most devices that a claim can have (AllocationResultsMaxSize). */
const MAX_DEVICES = 32;

/** Kubernetes gives up after 10 s on a node. A number of attempts gives the same answer on each machine. */
const MAX_ATTEMPTS = 100_000;

export interface DeviceSupply {
  readonly slices: SliceIndex;
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** Allocated to claims, without those allocated with admin access. */
  readonly inUse: ReadonlySet<DeviceId>;
}

/** `none`: not on this node, with the scheduler's message. `error`: a claim or a class is wrong: on no node. */
export type AllocationOutcome =
  | { readonly kind: 'allocated'; readonly allocations: readonly Allocation[] }
  | { readonly kind: 'none' | 'error'; readonly message: string };

/**
 * The first combination of devices that satisfies all claims: pools in the order of their names, slices in the order of
 * theirs, devices in the order of the slice. All requests are tried with all devices.
 *
 * @param claims  not allocated yet
 */
export function allocate(claims: readonly ResourceClaim[], supply: DeviceSupply, node: NamedNode): AllocationOutcome {
  try {
    return new DeviceSearch(claims, supply, node).run();
  } catch (error) {
    if (error instanceof ClaimError) return { kind: 'error', message: error.message };
    if (error instanceof TooManyAttempts) return { kind: 'none', message: 'timed out trying to allocate devices' };
    throw error;
  }
}

class ClaimError extends Error {}
class TooManyAttempts extends Error {}

/** A request, or one of its list, ready to be tried. */
interface Alternative {
  readonly claim: ResourceClaim;
  readonly name: string;
  readonly names: RequestNames;
  readonly request: ExactRequest;
  readonly class: DeviceClass;
  readonly matches: Map<PublishedDevice, boolean>;
  /** Mode All: exactly these. */
  readonly all: readonly Candidate[] | undefined;
}

interface Choice extends Candidate {
  readonly alternative: Alternative;
}

class DeviceSearch {
  readonly #found: NodeDevices;
  /** The alternatives, by claim and then by request. */
  readonly #requests: readonly (readonly (readonly Alternative[])[])[];
  readonly #constraints: readonly (readonly ConstraintState[])[];
  readonly #balances = new Map<DevicePool, CounterBalance>();
  /** The choices by claim, in the order in which they were made. */
  readonly #chosen: readonly Map<DeviceId, Choice>[];
  #attempts = 0;

  constructor(
    private readonly claims: readonly ResourceClaim[],
    private readonly supply: DeviceSupply,
    private readonly node: NamedNode,
  ) {
    this.#found = supply.slices.devicesFor(node);
    this.#requests = claims.map((claim) => this.#requestsOf(claim));
    this.#constraints = claims.map(({ spec }) => spec.constraints.map((constraint) => new ConstraintState(constraint)));
    this.#chosen = claims.map(() => new Map());
  }

  run(): AllocationOutcome {
    if (!this.#lacksDevices() && this.#fromRequest(0, 0))
      return { kind: 'allocated', allocations: this.#chosen.map((choices, index) => this.#allocationOf([...choices.values()], index)) };
    const isInvalid = this.#found.pools.some(({ state }) => state === 'invalid');
    return { kind: 'none', message: isInvalid ? 'invalid resource pools were encountered' : 'cannot allocate all claims' };
  }

  #requestsOf(claim: ResourceClaim): readonly (readonly Alternative[])[] {
    const key = claimKey(claim);
    if (claim.spec.unsupported !== undefined) throw new ClaimError(`claim ${key}: ${claim.spec.unsupported}`);
    const requests = claim.spec.requests.map((request) => this.#alternativesOf(claim, request));
    const least = requests.reduce((sum, alternatives) => sum + Math.min(...alternatives.map(countOf)), 0);
    if (least > MAX_DEVICES) {
      const counts = `number of requested devices ${String(least)} exceeds the claim limit of ${String(MAX_DEVICES)}`;
      throw new ClaimError(`claim ${key}: ${counts}`);
    }
    return requests;
  }

  #alternativesOf(claim: ResourceClaim, request: DeviceRequest): readonly Alternative[] {
    switch (request.kind) {
      case 'exactly':
        return [this.#alternative(claim, request.exactly, request.name, [request.name])];
      case 'firstAvailable':
        return request.firstAvailable.map((sub) => {
          const name = `${request.name}/${sub.name}`;
          return this.#alternative(claim, sub, name, [request.name, name]);
        });
    }
  }

  #alternative(claim: ResourceClaim, request: ExactRequest, name: string, names: RequestNames): Alternative {
    const prefix = `claim ${claimKey(claim)}, request ${name.split('/').at(-1) ?? name}`;
    const deviceClass = this.supply.classes.get(request.deviceClassName);
    if (deviceClass === undefined) throw new ClaimError(`${prefix}: could not retrieve device class ${request.deviceClassName}: not found`);
    const alternative = { claim, name, names, request, class: deviceClass, matches: new Map<PublishedDevice, boolean>() };
    if (request.count !== 'all') return { ...alternative, all: undefined };
    const unusable = this.#found.pools.find(({ state }) => state !== 'usable');
    if (unusable !== undefined) {
      const state = unusable.state === 'incomplete' ? 'being updated' : 'invalid';
      throw new ClaimError(`${prefix}: asks for all devices, but resource pool ${unusable.id} is currently ${state}`);
    }
    const all = this.#found.candidates.filter((candidate) => this.#isSelectable({ ...alternative, all: undefined }, candidate));
    return { ...alternative, all };
  }

  /** Whether fewer devices are left than the claims need at least. */
  #lacksDevices(): boolean {
    const needed = this.#requests.flat().filter(([first]) => first?.request.adminAccess === false);
    const least = needed.reduce((sum, alternatives) => sum + Math.min(...alternatives.map(countOf)), 0);
    return least > this.#found.candidates.filter(({ published }) => !this.supply.inUse.has(published.id)).length;
  }

  #fromRequest(claimIndex: number, requestIndex: number): boolean {
    const requests = this.#requests[claimIndex];
    if (requests === undefined) return true;
    const alternatives = requests[requestIndex];
    if (alternatives === undefined) return this.#fromRequest(claimIndex + 1, 0);
    const next = (): boolean => this.#fromRequest(claimIndex, requestIndex + 1);
    return alternatives.some((alternative) => {
      const count = countOf(alternative);
      const isTooMany = (this.#chosen[claimIndex]?.size ?? 0) + count > MAX_DEVICES;
      if (isTooMany || (alternative.all !== undefined && count === 0)) return false;
      return this.#fromDevice(alternative, claimIndex, { missing: count, start: 0 }, next);
    });
  }

  /** Devices of one request are chosen in ascending order, so that each set of them is tried once. */
  #fromDevice(
    alternative: Alternative,
    claimIndex: number,
    { missing, start }: { readonly missing: number; readonly start: number },
    next: () => boolean,
  ): boolean {
    if (missing === 0) return next();
    const candidates = alternative.all ?? this.#found.candidates;
    for (let index = start; index <= candidates.length - missing; index++) {
      if (++this.#attempts > MAX_ATTEMPTS) throw new TooManyAttempts();
      const candidate = candidates[index];
      if (candidate !== undefined && this.#choose(alternative, claimIndex, candidate)) {
        if (this.#fromDevice(alternative, claimIndex, { missing: missing - 1, start: index + 1 }, next)) return true;
        this.#putBack(alternative, claimIndex, candidate);
      }
      if (alternative.all !== undefined) return false;
    }
    return false;
  }

  #choose(alternative: Alternative, claimIndex: number, candidate: Candidate): boolean {
    const { published } = candidate;
    const { id } = published;
    const isTaken = alternative.request.adminAccess
      ? this.#chosen[claimIndex]?.has(id) === true
      : this.supply.inUse.has(id) || this.#chosen.some((choices) => choices.has(id));
    if (isTaken) return false;
    if (alternative.all === undefined && !this.#isSelectable(alternative, candidate)) return false;
    const { taints } = published.device;
    if (findMatchingUntoleratedTaint(taints, alternative.request.tolerations, ['NoSchedule', 'NoExecute']) !== undefined) return false;
    if (!this.#take(candidate)) return false;
    const constraints = this.#constraints[claimIndex] ?? [];
    const refused = constraints.findIndex((constraint) => !constraint.add(alternative.names, published));
    if (refused >= 0) {
      for (const constraint of constraints.slice(0, refused)) constraint.remove(alternative.names, published);
      this.#giveBack(candidate);
      if (alternative.all === undefined) return false;
      const place = `claim ${claimKey(alternative.claim)}, request ${alternative.name.split('/').at(-1) ?? ''}`;
      throw new ClaimError(`${place}: cannot add device ${id} because a claim constraint would not be satisfied`);
    }
    this.#chosen[claimIndex]?.set(id, { ...candidate, alternative });
    return true;
  }

  #putBack(alternative: Alternative, claimIndex: number, candidate: Candidate): void {
    const { published } = candidate;
    this.#chosen[claimIndex]?.delete(published.id);
    for (const constraint of this.#constraints[claimIndex] ?? []) constraint.remove(alternative.names, published);
    this.#giveBack(candidate);
  }

  #take({ published: { device }, pool }: Candidate): boolean {
    return device.consumesCounters.length === 0 || this.#balanceOf(pool).take(device);
  }

  #giveBack({ published: { device }, pool }: Candidate): void {
    if (device.consumesCounters.length > 0) this.#balanceOf(pool).giveBack(device);
  }

  #balanceOf(pool: DevicePool): CounterBalance {
    const known = this.#balances.get(pool);
    if (known !== undefined) return known;
    const balance = new CounterBalance(pool, this.supply.inUse);
    this.#balances.set(pool, balance);
    return balance;
  }

  #isSelectable(alternative: Alternative, { published }: Candidate): boolean {
    const known = alternative.matches.get(published);
    if (known !== undefined) return known;
    const { device, slice } = published;
    const found =
      device.unsupported === undefined &&
      selectedBy(alternative.class.selectors, published, `class ${alternative.class.name}`) &&
      selectedBy(alternative.request.selectors, published, `claim ${claimKey(alternative.claim)}`) &&
      (slice.nodes.kind !== 'perDevice' || selectsNode(device.nodes, this.node));
    alternative.matches.set(published, found);
    return found;
  }

  #allocationOf(choices: readonly Choice[], claimIndex: number): Allocation {
    const devices = choices.map(({ alternative, published: { slice, device } }) => ({
      request: alternative.name,
      driver: slice.driver,
      pool: slice.pool.name,
      device: device.name,
      adminAccess: alternative.request.adminAccess,
    }));
    return { devices, nodeTerms: nodeTermsOf(choices, this.node, this.claims[claimIndex]?.name ?? '') };
  }
}

function countOf({ request, all }: Alternative): number {
  return request.count === 'all' ? (all?.length ?? 0) : request.count;
}

function selectedBy(selectors: readonly DeviceSelector[], published: PublishedDevice, owner: string): boolean {
  return selectors.every((selector, index) => {
    try {
      return selector(published);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      const device = error.stage === 'runtime' ? ` on device ${published.id}` : '';
      throw new ClaimError(`${owner}: selector #${String(index)}${device}: CEL ${error.stage} error: ${error.message}`);
    }
  });
}

/** A device of one node binds the claim to that node; else all selectors of nodes must match. */
function nodeTermsOf(choices: readonly Choice[], node: NamedNode, claim: string): readonly NodeSelectorTerm[] | undefined {
  const selections = choices.map(({ published: { slice, device } }) => (slice.nodes.kind === 'perDevice' ? device.nodes : slice.nodes));
  if (selections.some(({ kind }) => kind === 'node'))
    return [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: [node.name] }] }];
  const terms = selections.flatMap((selection) => termOf(selection, claim));
  if (terms.length === 0) return undefined;
  const distinct = <T>(all: readonly T[]): readonly T[] => [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  return [
    { expressions: distinct(terms.flatMap(({ expressions }) => expressions)), fields: distinct(terms.flatMap(({ fields }) => fields)) },
  ];
}

function termOf(selection: NodeSelection, claim: string): readonly NodeSelectorTerm[] {
  if (selection.kind !== 'selector') return [];
  if (selection.terms.length > 1) {
    const count = String(selection.terms.length);
    throw new ClaimError(`create NodeSelector for claim ${claim}: unsupported ResourceSlice.NodeSelector with ${count} terms`);
  }
  return selection.terms;
}
