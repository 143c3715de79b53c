import { ProcessTree } from '../../core/windows/process-tree.js';
import type { Rule } from '../../core/workload/rule.js';
import { compileWindowsGlob } from '../../core/windows/windows-path.js';
import { serviceStop } from '../../core/windows/windows-service.js';
import { targetId } from '../../core/windows/windows-target.js';
import type { Candidates, Protection, UnreadableWorkload, Workload, WorkloadUsage } from '../../core/workload/workload.js';
import { errnoName } from '../../errors.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import { qosClass } from '../cgroup/cgroup-workload.js';
import { compileRules, tolerationsPart, type RuleEffect } from '../workload-rules.js';
import type { WorkloadSourceSpec } from '../kinds/source-spec.js';
import { WindowsSources, type FoundJob, type WindowsMember } from './windows-members.js';
import { serviceProtection, systemProtection } from '../../core/windows/windows-protection.js';
import { NANO } from '../../core/quantity/integer.js';

interface WindowsWorkloadsConfig {
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
}

type Native = Pick<WindowsBinding, 'processes' | 'services' | 'Job'>;

/** Jobs, services and process trees as a source of workloads. */
export function openWindowsWorkloads(config: WindowsWorkloadsConfig, native: Native, ownPid: number = process.pid): WorkloadSource {
  return new WindowsWorkloads(config, native, ownPid);
}

interface Looked {
  readonly members: readonly (WindowsMember & { readonly effect: RuleEffect })[];
  readonly protections: ReadonlyMap<string, Protection>;
  readonly unreadable: readonly UnreadableWorkload[];
  readonly timeNs: bigint;
}

class WindowsWorkloads implements WorkloadSource {
  readonly #native: Native;
  readonly #sources: WindowsSources;
  readonly #effectOf: ReturnType<typeof compileRules>;
  readonly #ownPid: number;
  #missingJobs: readonly string[] = [];

  constructor({ workloads, rules }: WindowsWorkloadsConfig, native: Native, ownPid: number) {
    this.#native = native;
    this.#sources = new WindowsSources(workloads);
    this.#effectOf = compileRules(rules, compileWindowsGlob);
    this.#ownPid = ownPid;
  }

  candidates(): Candidates {
    const { members, protections, unreadable, timeNs } = this.#look();
    const usages = members.map((member) => usageOf(member, protections.get(member.path)));
    const counts = new Map(members.map(({ target, processes }) => [targetId(target), BigInt(processes.length)]));
    return { usages, unreadable, timeNs, veto: (workload) => this.#veto(workload), processes: () => counts };
  }

  /** Every pass reads everything. */
  refresh(): void {
    return;
  }

  holding(): undefined {
    return undefined;
  }

  problems(): readonly SourceProblem[] {
    return this.#missingJobs.map((name) => ({
      root: `job:${name}`,
      code: 'EVICTD_SOURCE_MISSING',
      message: `workload source job ${name} does not exist`,
      hint: 'create it: evictd guards it as soon as it exists. Jobs of another session are named Session\\NUMBER\\NAME',
    }));
  }

  close(): void {
    return;
  }

  #veto({ id }: Workload): Protection | undefined {
    const { members, protections, unreadable } = this.#look();
    const member = members.find(({ target }) => targetId(target) === id);
    if (member === undefined) return unreadable.length > 0 ? { kind: 'unlisted' } : { kind: 'removed' };
    return protections.get(member.path);
  }

  #look(): Looked {
    const unreadable: UnreadableWorkload[] = [];
    const attempt = <T>(name: string, path: string, read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        unreadable.push({ name, path, reason: thrownText(error) });
        return undefined;
      }
    };
    const missing: string[] = [];
    const jobs = this.#sources.jobs.flatMap((name) => attempt(name, `job:${name}`, () => this.#job(name, missing)) ?? []);
    this.#missingJobs = missing;
    const services = (this.#sources.namesServices ? attempt('services', 'services', () => this.#native.services()) : undefined) ?? [];
    const processes = attempt('processes', 'processes', () => this.#native.processes()) ?? [];
    const timeNs = process.hrtime.bigint();
    const tree = new ProcessTree(processes);
    const members = this.#sources.members({ processes, services, jobs }, tree).map((member) => {
      return { ...member, effect: this.#effectOf({ name: member.name, path: member.program }) };
    });
    return { members, protections: windowsProtections(members, tree.lineOf(this.#ownPid), this.#effectOf), unreadable, timeNs };
  }

  /**
   * Opened and closed each time: an open handle would keep the job's name after its owner ended, and its processes
   * alive (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE).
   */
  #job(name: string, missing: string[]): FoundJob[] {
    let job;
    try {
      job = new this.#native.Job(name);
    } catch (error) {
      if (errnoName(error) !== 'ERROR_FILE_NOT_FOUND') throw error;
      missing.push(name);
      return [];
    }
    try {
      return [{ name, pids: job.processes(), limitBytes: job.commitLimit() }];
    } finally {
      job.close();
    }
  }
}

/**
 * Uses committed private bytes: they count against the commit limit and are freed by an eviction. The sum of working
 * sets would count shared pages several times.
 */
function usageOf(member: WindowsMember & { readonly effect: RuleEffect }, protection: Protection | undefined): WorkloadUsage {
  const privateBytes = member.processes.reduce((sum, process) => sum + process.privateBytes, 0n);
  const isKnown = member.processes.every(({ errno }) => errno === 0);
  const bytes = isKnown ? privateBytes : undefined;
  const processes = BigInt(member.processes.length);
  const stats = { workingSetBytes: bytes, usageBytes: bytes, processes, ephemeralStorageBytes: undefined, containers: [], volumes: [] };
  return { workload: workloadOf(member, protection), stats };
}

function workloadOf(member: WindowsMember & { readonly effect: RuleEffect }, protection: Protection | undefined): Workload {
  const { target, name, path, program, effect, limitBytes, service, processes } = member;
  const requestBytes = effect.requestsMemory ?? 0n;
  return {
    id: targetId(target),
    name,
    path,
    priority: effect.priority ?? 0,
    requests: { memory: requestBytes * NANO, ephemeralStorage: 0n, inodes: 0n },
    limits: { memory: limitBytes === undefined ? undefined : limitBytes * NANO, ephemeralStorage: undefined },
    qosClass: qosClass(requestBytes, limitBytes),
    // Only a service that accepts a stop can use a grace period.
    terminationGracePeriodNs: service === undefined || serviceStop(service) === 'never' ? 0n : effect.terminationGracePeriodNs,
    startOrder: processes[0].createdAt,
    protection,
    pod: undefined,
    ...(program !== path && { program }),
    ...tolerationsPart(effect),
  };
}

/**
 * Protections by path. A critical rule for any process protects its workload.
 *
 * @param own  evictd and its ancestors
 */
function windowsProtections(
  members: readonly (WindowsMember & { readonly effect: RuleEffect })[],
  own: ReadonlySet<number>,
  effectOf: ReturnType<typeof compileRules>,
): ReadonlyMap<string, Protection> {
  const protections = new Map<string, Protection>();
  for (const { path, effect, processes, service } of members) {
    const bySystem = systemProtection(processes, own) ?? (service && serviceProtection(service));
    const critical = processes.find(({ name, path: program }) => effectOf({ name, path: program }).critical);
    const inside: Protection | undefined = critical && { kind: 'contains', name: critical.name };
    const also = bySystem ?? inside;
    const protection: Protection | undefined = effect.critical ? { kind: 'critical', ...(bySystem && { also: bySystem }) } : also;
    if (protection) protections.set(path, protection);
  }
  protectShared(members, protections);
  return protections;
}

/** A process may belong to a job and a tree: ending one ends part of the other. */
function protectShared(members: readonly WindowsMember[], protections: Map<string, Protection>): void {
  const protectedBy = new Map<number, WindowsMember>();
  for (const member of members) {
    if (protections.has(member.path)) for (const { pid } of member.processes) protectedBy.set(pid, member);
  }
  for (const { path, processes } of members) {
    if (protections.has(path)) continue;
    const shared = processes.map(({ pid }) => protectedBy.get(pid)).find((other) => other !== undefined);
    if (shared) protections.set(path, { kind: 'contains', name: shared.name });
  }
}
