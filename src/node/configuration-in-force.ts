import type { Config, LoadedConfig } from '../config/config.js';
import type { Departure } from '../core/decide/departures.js';
import type { PolicyBudget } from '../core/disruption/disruption-budget.js';
import { selectHost } from '../host/select.js';
import { normalCgroupPath } from '../core/workload/cgroup.js';
import { COLLECTIONS } from '../core/signal/layout.js';
import { MACHINE_RESOURCES } from '../core/signal/signal.js';
import type { Policy } from '../core/decide/state.js';
import type { ConfiguredPolicy } from '../core/policy/configured-policy.js';
import type { UnitProtection } from '../workloads/systemd/unit-stops.js';
import { unitProtection } from './unit-protection.js';
import { selectsPods } from '../workloads/kinds/source-spec.js';

/** Takes a new configuration at a reload. */
export type Configure = (next: LoadedConfig) => void;

/** The configuration of a running evictd, and what follows from it alone. */
export class ConfigurationInForce {
  /** The configuration at the start: some of its keys stay in force until a restart. */
  readonly started: Config;
  readonly #dryRun: boolean;
  readonly #ownCgroup: string | undefined;
  /** Called after a change that no reload made. */
  onChange: () => void = () => undefined;
  #safeMode = false;
  #ofUnits: readonly ConfiguredPolicy[] = [];
  #policies: readonly ConfiguredPolicy[];
  #loaded: LoadedConfig;
  #isProtected: UnitProtection;

  /** @param ownCgroup  evictd's cgroup in the hierarchy of systemd; undefined: not known */
  constructor(loaded: LoadedConfig, dryRun: boolean, ownCgroup: string | undefined) {
    this.started = loaded.config;
    this.#dryRun = dryRun;
    this.#ownCgroup = ownCgroup;
    this.#loaded = loaded;
    this.#policies = loaded.config.policies;
    this.#isProtected = unitProtection(loaded.config, ownCgroup);
  }

  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  get config(): Config {
    return this.#loaded.config;
  }

  /** The policies of the configuration, then those that settings of units make. The same list until one changes. */
  get policies(): readonly ConfiguredPolicy[] {
    return this.#policies;
  }

  set unitPolicies(made: readonly ConfiguredPolicy[]) {
    this.#ofUnits = made;
    this.#policies = [...this.config.policies, ...made];
    this.onChange();
  }

  /** Nothing is evicted, because evictd crashed several times. */
  set safeMode(is: boolean) {
    this.#safeMode = is;
    this.onChange();
  }

  /** Whether an operator has paused evictions of this cgroup. */
  isPaused: (path: string) => boolean = () => false;

  readonly isProtected: UnitProtection = (unit, besidesCritical) =>
    this.#isProtected(unit, besidesCritical) || this.isPaused(unit.controlGroup);

  readonly configure: Configure = (next) => {
    this.#loaded = next;
    this.#policies = [...next.config.policies, ...this.#ofUnits];
    this.#isProtected = unitProtection(next.config, this.#ownCgroup);
  };

  policy(isShuttingDown = false): Policy {
    const { policies } = this;
    const configured = policyOf(withNodeOf(this.started, this.config), this.#dryRun, isShuttingDown);
    const policy = { ...configured, ...(policies.length > 0 && { policies }) };
    return this.#safeMode ? { ...policy, hasWorkloadSource: false, safeMode: true } : policy;
  }
}

/** A reloaded configuration on the node that was opened at the start, which counts memory as it did then. */
export function withNodeOf({ allocatable, departures: started }: Config, config: Config): Config {
  const counting = Object.fromEntries(COUNTING_DEPARTURES.map((name) => [name, started[name]]));
  return { ...config, allocatable, departures: { ...config.departures, ...counting } };
}

/** Which memory counts as available. A change needs a restart. */
export const COUNTING_DEPARTURES = ['kernel-memory', 'reclaimable-cache'] as const satisfies readonly Departure[];

export function budgetsOf({ disruptionBudgets }: Pick<Config, 'disruptionBudgets'>): readonly PolicyBudget[] {
  return disruptionBudgets.map((budget) => ({ ...budget, os: selectHost().os }));
}

/** The part of a configuration that decisions depend on. */
export function policyOf(config: Config, dryRun: boolean, shuttingDown = false): Policy {
  return {
    thresholds: config.thresholds,
    pressureTransitionPeriodNs: config.pressureTransitionPeriodNs,
    maxPodGracePeriodNs: config.maxPodGracePeriodNs,
    departures: config.departures,
    monitoringIntervalNs: config.monitoringIntervalNs,
    pressureWindowNs: config.pressureWindowNs,
    hasWorkloadSource: config.workloads.length > 0,
    evictable: MACHINE_RESOURCES,
    ...(config.allocatable && { allocatableCgroup: normalCgroupPath(config.allocatable.cgroup) }),
    collections: new Set(selectsPods(config.workloads) ? COLLECTIONS : []),
    reclaimSteps: config.reclaim,
    evictionBudget: config.evictionBudget,
    maxPauseNs: config.maxPauseNs,
    ...(config.disruptionBudgets.length > 0 && {
      disruptionBudgets: budgetsOf(config),
    }),
    localStorageCapacityIsolation: false,
    ...(config.taints.length > 0 && { taints: config.taints }),
    ...(config.policies.length > 0 && { policies: config.policies }),
    dryRun,
    ...(shuttingDown && { shuttingDown }),
  };
}
