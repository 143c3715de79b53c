import { byAge, type ProcessTree } from '../../core/windows/process-tree.js';
import { compileWindowsGlob } from '../../core/windows/windows-path.js';
import type { WindowsTarget } from '../../core/windows/windows-target.js';
import type { ProcessEntry, ServiceEntry } from '../../native/windows-binding.js';
import { windowsSelection, type WorkloadSourceSpec } from '../kinds/source-spec.js';

export interface FoundJob {
  readonly name: string;
  readonly pids: readonly number[];
  /** The commit limit; 0n: none. */
  readonly limitBytes: bigint;
}

/** The state at one moment. */
interface WindowsSnapshot {
  readonly processes: readonly ProcessEntry[];
  readonly services: readonly ServiceEntry[];
  readonly jobs: readonly FoundJob[];
}

/** A workload and its processes. */
export interface WindowsMember {
  readonly target: WindowsTarget;
  readonly name: string;
  /** Unique. */
  readonly path: string;
  /** The path for rules: the program, or 'job:NAME'. */
  readonly program: string;
  /** Oldest first; never empty. */
  readonly processes: readonly [ProcessEntry, ...ProcessEntry[]];
  /** Left out: not a service. */
  readonly service?: ServiceEntry;
  readonly limitBytes: bigint | undefined;
}

/** Finds workloads among processes. */
export class WindowsSources {
  /** Jobs without duplicates. */
  readonly jobs: readonly string[];
  readonly #services: readonly ReturnType<typeof compileWindowsGlob>[];
  readonly #programs: readonly ReturnType<typeof compileWindowsGlob>[];

  constructor(sources: readonly WorkloadSourceSpec[]) {
    const selections = sources.flatMap((source) => windowsSelection(source) ?? []);
    this.jobs = [...new Set(selections.flatMap(({ jobs = [] }) => jobs))];
    this.#services = selections.flatMap(({ services = [] }) => services.map(compileWindowsGlob));
    this.#programs = selections.flatMap(({ programs = [] }) => programs.map(compileWindowsGlob));
  }

  get namesServices(): boolean {
    return this.#services.length > 0;
  }

  /** Jobs, then services, then trees. Processes of jobs, services and other trees are not roots of trees. */
  members({ processes, services, jobs }: WindowsSnapshot, tree: ProcessTree<ProcessEntry>): WindowsMember[] {
    const held = [
      ...jobs.flatMap((job) => ofJob(job, tree)),
      ...services.filter(({ name }) => this.#services.some((pattern) => pattern.test(name))).flatMap((service) => ofService(service, tree)),
    ];
    const claimed = new Set(held.flatMap((member) => member.processes.map(({ pid }) => pid)));
    const named = processes.filter(({ errno, path }) => errno === 0 && this.#programs.some((pattern) => pattern.test(path)));
    const pids = new Set(named.map(({ pid }) => pid));
    const roots = named.filter((process) => !claimed.has(process.pid) && !tree.above(process).some(({ pid }) => pids.has(pid)));
    return [...held, ...roots.sort(byAge).flatMap((root) => ofTree(root, tree))];
  }
}

function ofJob({ name, pids, limitBytes }: FoundJob, tree: ProcessTree<ProcessEntry>): WindowsMember[] {
  const processes = pids.flatMap((pid) => tree.get(pid) ?? []).sort(byAge);
  if (!isOccupied(processes)) return [];
  const path = `job:${name}`;
  return [{ target: { kind: 'job', name }, name, path, program: path, processes, limitBytes: limitBytes === 0n ? undefined : limitBytes }];
}

function ofService(service: ServiceEntry, tree: ProcessTree<ProcessEntry>): WindowsMember[] {
  const root = service.pid === 0 ? undefined : tree.get(service.pid);
  if (root === undefined) return [];
  const { name } = service;
  const { pid, createdAt, path: program } = root;
  const target: WindowsTarget = { kind: 'service', name, pid, createdAt };
  return withProcesses({ target, name, path: `service:${name}`, program, service, limitBytes: undefined }, tree.below(root));
}

function ofTree(root: ProcessEntry, tree: ProcessTree<ProcessEntry>): WindowsMember[] {
  const { pid, createdAt, name, path: program } = root;
  const target: WindowsTarget = { kind: 'tree', pid, createdAt };
  return withProcesses({ target, name, path: `${program}#${String(pid)}`, program, limitBytes: undefined }, tree.below(root));
}

function withProcesses(member: Omit<WindowsMember, 'processes'>, processes: readonly ProcessEntry[]): WindowsMember[] {
  return isOccupied(processes) ? [{ ...member, processes }] : [];
}

function isOccupied(processes: readonly ProcessEntry[]): processes is readonly [ProcessEntry, ...ProcessEntry[]] {
  return processes.length > 0;
}
