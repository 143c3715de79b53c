import type { PreemptionPolicy } from '../disruption/priority-class.js';
import type { Toleration } from '../disruption/toleration.js';
import { printable } from '../name/printable.js';
import type { OperatingSystem } from '../signal/operating-system.js';
import { unitNameOf } from '../systemd/unit.js';
import { compileWindowsGlob } from '../windows/windows-path.js';
import { containerScope, machineNames } from './container-scope.js';
import { compileGlob } from './glob.js';
import type { WorkloadDirectory } from './workload-directory.js';
import type { Workload } from './workload.js';

/** A rule of the operator about workloads, in the configured order. */
export interface Rule {
  readonly match: {
    readonly name?: string;
    readonly path?: string;
    /** Patterns for the values of labels from a container runtime. All must match. */
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly critical?: boolean;
  /** The rule has `critical: false` and the full name of a unit, and lifts the unit's built-in protection. */
  readonly liftProtection?: boolean;
  /** Written, or that of its class. */
  readonly priority?: number;
  readonly priorityClass?: string;
  /** The preemption policy of its priority class. */
  readonly preemptionPolicy?: PreemptionPolicy;
  readonly requestsMemory?: bigint;
  readonly terminationGracePeriodNs?: bigint;
  readonly directories?: readonly WorkloadDirectory[];
  readonly tolerations?: readonly Toleration[];
}

/** The properties that rules match. */
export interface Named {
  readonly name: string;
  readonly path: string;
  /** Left out: none reported by a container runtime. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export type CompilePattern = (pattern: string) => { readonly test: (text: string) => boolean };

export function patternsOf(os: OperatingSystem): CompilePattern {
  return os === 'windows' ? compileWindowsGlob : compileGlob;
}

export function namedOf(workload: Pick<Workload, 'name' | 'path' | 'program' | 'runtime' | 'kubernetes'>): Named {
  const { name, path, program, runtime, kubernetes } = workload;
  return { name, path: program ?? path, labels: (kubernetes ?? runtime)?.labels };
}

/** A container also matches by the name of its cgroup, which is its only name until its own is known. */
function namesOf({ name, path }: Named): readonly string[] {
  return containerScope(path) ? [name, unitNameOf(path.slice(path.lastIndexOf('/') + 1))] : [name, ...machineNames(path)];
}

/** A name also matches as it is shown: a configuration cannot hold bytes that are not UTF-8. */
function matches(pattern: ReturnType<CompilePattern>, name: string): boolean {
  return pattern.test(name) || pattern.test(printable(name));
}

/** Whether a workload has such a name, path and labels: all must match. `{}` matches everything. */
export function compileMatch({ name, path, labels = {} }: Rule['match'], compile: CompilePattern): (workload: Named) => boolean {
  const namePattern = name === undefined ? undefined : compile(name);
  const pathPattern = path === undefined ? undefined : compile(path);
  const labelPatterns = Object.entries(labels).map(([label, value]) => [label, compile(value)] as const);
  return (workload) =>
    (namePattern === undefined || namesOf(workload).some((own) => matches(namePattern, own))) &&
    (pathPattern === undefined || matches(pathPattern, workload.path)) &&
    labelPatterns.every(([label, value]) => {
      const own = workload.labels;
      return own !== undefined && Object.hasOwn(own, label) && value.test(own[label] ?? '');
    });
}
