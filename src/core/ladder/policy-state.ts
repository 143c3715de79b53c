import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { PolicyTarget } from '../policy/policy-action.js';
import { type ScopeHistory, NO_PASSES, type ScopePasses } from '../policy/scope-history.js';
import type { ScopeReading } from '../policy/scope-reading.js';
import type { ScopeState } from './ladder.js';
import type { ComparedHistories } from './victim-order.js';

/** A policy's scope with its state. */
export interface PolicyScope extends ScopeState {
  readonly policy: string;
  /** Path of the cgroup; '': the node. */
  readonly scope: string;
  /** Of the policy that made this state. Left out: it is new. */
  readonly fingerprint?: string;
}

/** A workload that is throttled or frozen by a step of a ladder. */
export interface Restrained {
  readonly action: 'throttle' | 'freeze';
  readonly target: PolicyTarget;
  readonly policy: string;
  readonly scope: string;
  readonly condition: string;
  /** Key of its scope, and the step's index. */
  readonly key: string;
  readonly step: number;
  readonly atNs: bigint;
}

/** What policies keep for the next step. Not kept over a restart: a restart lifts all restraints. */
export interface PolicyState {
  /** By policy and cgroup ({@link scopeKey}). One whose condition does not hold, and that has no state, is left out. */
  readonly scopes: ReadonlyMap<string, PolicyScope>;
  /** Readings of the node, as far back as the longest window of a condition. */
  readonly node: ScopeHistory | undefined;
  /** What was read of the cgroups of scopes in the last step, by policy. */
  readonly read: ReadonlyMap<string, readonly ScopeReading[]>;
  /** Readings of these cgroups, as far back as the longest window of a condition about them. */
  readonly passes: ScopePasses;
  /** Readings of the cgroups that conditions name. Left out: not read. */
  readonly named?: ReadonlyMap<string, ScopeHistory>;
  readonly restraints: readonly Restrained[];
  /** Readings of the cgroups that a victim may be chosen from, while a condition holds. */
  readonly compared: ComparedHistories;
}

export const initialPolicyState: PolicyState = {
  scopes: new Map(),
  node: undefined,
  read: new Map(),
  passes: NO_PASSES,
  restraints: [],
  compared: new Map(),
};

/** A cgroup that was made anew under its path is another scope. */
export function scopeKey(policy: string, path: string, id: bigint | undefined): string {
  return `${policy} ${id === undefined ? '' : String(id)} ${path}`;
}

export function canEvict({ then }: Pick<ConfiguredPolicy, 'then'>): boolean {
  return then.some(({ kind }) => kind === 'stop' || kind === 'kill');
}

/** Whether the condition of a policy of the node that evicts holds, or is not known to be over. */
export function evictsForNode(policies: readonly ConfiguredPolicy[], { scopes }: PolicyState): boolean {
  const evicting = new Set(policies.filter(canEvict).map(({ name }) => name));
  return [...scopes.values()].some(
    ({ policy, scope, holdsSinceNs, ladder, awaitsRelief }) =>
      scope === '' && evicting.has(policy) && (holdsSinceNs !== undefined || ladder !== undefined || awaitsRelief === true),
  );
}
