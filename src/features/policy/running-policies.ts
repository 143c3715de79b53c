import { comparedValues } from '../../core/ladder/victim-order.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import type { PolicyEffect, PolicyResult } from '../../core/policy/policy-action.js';
import type { PolicyReadings, ScopeReading } from '../../core/policy/scope-reading.js';
import { unitNameOf } from '../../core/systemd/unit.js';
import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import { compileGlob } from '../../core/workload/glob.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { Rule } from '../../core/workload/rule.js';
import type { Workload } from '../../core/workload/workload.js';
import type { Hierarchies } from '../../host/linux/cgroup/hierarchies.js';
import { fastestFill } from '../../host/linux/sampling/fill-rates.js';
import { selectHost } from '../../host/select.js';
import type { ProgramRunner, SourceProblem } from '../../monitor/ports/ports.js';
import type { UnitManager } from '../../monitor/ports/unit-port.js';
import { native } from '../../native/index.js';
import { compileRules } from '../../workloads/workload-rules.js';
import { CgroupValues } from './cgroup-values.js';
import { LadderActions } from './ladder-actions.js';
import { PolicyReader } from './policy-reader.js';
import { PressureTriggers } from './pressure-triggers.js';
import { readProcesses } from './scope-processes.js';
import { limitPrograms } from './program-limit.js';
import { unitSince } from './unit-since.js';
import type { Restraints } from './restraint/restraints.js';

export interface RunningParts {
  readonly hierarchies: Hierarchies;
  /** The node's cgroup; undefined: the machine. */
  readonly node: string | undefined;
  readonly units: Pick<UnitManager, 'unit' | 'awaited'>;
  readonly restraints: Restraints;
  readonly runner: Pick<ProgramRunner, 'run'>;
  /** The pressure of the node has risen. */
  readonly onPressure: () => void;
}

/** It outlives a reload: a program that runs goes on, and counts. */
export function openRunner(): ProgramRunner {
  const none = { result: 'refused', error: 'evictd runs no programs here' } as const;
  const runner = selectHost().openProgramRunner?.(native) ?? {
    run: () => Promise.resolve(none),
    problemOf: () => Promise.resolve(none.error),
    close: () => undefined,
  };
  return limitPrograms(runner);
}

/** What of a configuration is about policies. */
export interface PolicySettings {
  readonly policies: readonly ConfiguredPolicy[];
  readonly rules: readonly Rule[];
}

/** The policies of a configuration, with everything open that they read. */
export class RunningPolicies {
  readonly #reader: PolicyReader;
  /** The cgroups that a step of a ladder chooses from. They are read only while a condition holds. */
  readonly #compared: CgroupValues;
  readonly #comparedValues: ReturnType<typeof comparedValues>;
  readonly #actions: LadderActions;
  readonly #triggers: PressureTriggers;
  /** As for `PolicyPort`. */
  readonly bytesPerSecond = fastestFill(native);
  /** undefined: no memory controller. */
  readonly #hierarchy: CgroupHierarchy | undefined;

  constructor({ hierarchies, node, units, restraints, runner, onPressure }: RunningParts, { policies, rules }: PolicySettings) {
    const effectOf = compileRules(rules, compileGlob);
    const requestOf = (path: string): bigint | undefined => effectOf({ name: nameOf(path), path }).requestsMemory;
    const parts = { native, hierarchies, node, requestOf, unitSince: unitSince(units) };
    this.#reader = new PolicyReader(parts, policies);
    this.#comparedValues = comparedValues(policies);
    this.#compared = new CgroupValues(parts, this.#comparedValues);
    const { memory } = hierarchies;
    this.#hierarchy = memory;
    this.#triggers = new PressureTriggers(native, { memory, node }, policies, onPressure);
    const ownCgroup = (): string | undefined => memory && selectHost().ownMemoryCgroup(memory);
    this.#actions = new LadderActions({ native, hierarchies, restraints, runner, ownCgroup });
  }

  get watchedPressure(): ReadonlySet<string> {
    return this.#triggers.live;
  }

  read(): PolicyReadings {
    return this.#reader.read();
  }

  workloads(paths: readonly string[]): readonly ScopeReading[] {
    this.#compared.follow(new Map(paths.map((path) => [path, this.#comparedValues])));
    return [...this.#compared.read().values()];
  }

  processes(workloads: readonly Workload[]): readonly WorkloadProcess[] {
    return this.#hierarchy === undefined ? [] : readProcesses(native, this.#hierarchy, workloads);
  }

  perform(effect: PolicyEffect, done: (result: PolicyResult) => void): void {
    const { policy, scope, action } = effect;
    const target = 'target' in effect ? { target: effect.target } : {};
    this.#actions.perform(effect, (result) => {
      done({ policy, scope, action, ...target, ...result });
    });
  }

  problems(): readonly SourceProblem[] {
    return this.#reader.problems();
  }

  /** Called at a tick: arms missing triggers again. */
  retry(): void {
    this.#triggers.arm();
  }

  close(): void {
    this.#triggers.close();
    this.#reader.close();
    this.#compared.close();
  }
}

/** The name of the cgroup as a workload. */
function nameOf(path: string): string {
  return unitNameOf(path.slice(path.lastIndexOf('/') + 1));
}
