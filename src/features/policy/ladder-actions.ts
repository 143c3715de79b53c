import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { ThrottleLimit } from '../../core/policy/configured-policy.js';
import type { PastStep, PolicyEffect, PolicyResult, PolicyTarget } from '../../core/policy/policy-action.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { openSharedCgroup } from '../../evict/cgroup/shared-cgroup.js';
import { CgroupDirectory } from '../../host/linux/cgroup/cgroup-directory.js';
import type { Hierarchies } from '../../host/linux/cgroup/hierarchies.js';
import type { ProgramRunner } from '../../monitor/ports/ports.js';
import type { Binding } from '../../native/binding.js';
import { reclaimMemory } from './memory-reclaim.js';
import type { Restraint } from './restraint/restraint.js';
import type { Restraints } from './restraint/restraints.js';
import { messageOf } from '../../errors.js';

export interface LadderParts {
  readonly native: Binding;
  readonly hierarchies: Hierarchies;
  readonly restraints: Restraints;
  readonly runner: Pick<ProgramRunner, 'run'>;
  /** evictd's own cgroup in the memory hierarchy; undefined: not known. */
  readonly ownCgroup: () => string | undefined;
}

type Result = Pick<PolicyResult, 'result' | 'freedBytes' | 'error'>;
type Act<K extends PolicyEffect['action']> = Extract<PolicyEffect, { action: K }>;

const DONE: Result = { result: 'done' };
const failed = (error: string): Result => ({ result: 'failed', error });
const refused = (error: string): Result => ({ result: 'refused', error });

/** memory.high counts whole pages, which have at most 64 KiB. */
const LARGEST_PAGE = 64n * 1024n;
/** A program that frees memory must not need much. */
const COMMAND_MEMORY_BYTES = 256n * 1024n * 1024n;

/** 'reclaim 182MiB': what memory.available rose by; only the name if that is not known. */
function stepText({ action, gainedBytes }: PastStep): string {
  return gainedBytes === undefined ? action : `${action} ${amountOfBytes(gainedBytes)}`;
}

/** Carries out what policies ask for, besides evictions. Waits for nothing: other threads and programs do. */
export class LadderActions {
  /** One at a time: each takes a thread of the pool. */
  #reclaim: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: LadderParts) {}

  /** `done` is called once, and before this returns where a restraint is lifted. Never throws. */
  perform(effect: PolicyEffect, done: (result: Result) => void): void {
    const asFailed = (error: unknown): Result => failed(messageOf(error));
    try {
      const result = this.#begin(effect);
      if (result instanceof Promise) void result.catch(asFailed).then(done);
      else done(result);
    } catch (error) {
      done(asFailed(error));
    }
  }

  #begin(effect: PolicyEffect): Result | Promise<Result> {
    switch (effect.action) {
      case 'notify':
        return DONE; // the record of the effect, and its log line
      case 'run':
        return this.#run(effect);
      case 'reclaim':
        return this.#reclaimAfterOthers(effect);
      case 'throttle':
        return this.#throttle(effect);
      case 'freeze':
        return this.#freeze(effect);
      case 'unthrottle':
      case 'thaw':
        this.parts.restraints.release(effect.action === 'thaw' ? 'freeze' : 'throttle', effect.target.id, effect.policy);
        return DONE;
    }
  }

  async #run({ policy, scope, condition, readings = '', command, timeoutNs, steps }: Act<'run'>): Promise<Result> {
    const beganNs = process.hrtime.bigint();
    const why = { EVICTD_POLICY: policy, EVICTD_SCOPE: scope, EVICTD_CONDITION: condition, EVICTD_READINGS: readings };
    const environment = { ...why, EVICTD_STEPS: steps.map(stepText).join(', ') };
    const limits = { timeoutNs, memoryMaxBytes: COMMAND_MEMORY_BYTES };
    const end = await this.parts.runner.run({ purpose: 'policy', name: policy, argv: command, environment, ...limits });
    if (end.result === 'succeeded') return DONE;
    return { result: process.hrtime.bigint() - beganNs >= timeoutNs ? 'timed-out' : 'failed', error: end.error };
  }

  async #reclaimAfterOthers({ targets, memoryBytes, withinNs }: Act<'reclaim'>): Promise<Result> {
    const { memory } = this.parts.hierarchies;
    if (memory?.version !== 2) return failed('cgroup v1 has no memory.reclaim');
    const untilNs = process.hrtime.bigint() + withinNs;
    const plan = { targets: targets.map((target) => ({ ...target, id: idOf(target) })), memoryBytes, untilNs };
    const reclaim = this.#reclaim.then(() => reclaimMemory(memory, plan));
    this.#reclaim = reclaim;
    const { freedBytes, isLate, errors } = await reclaim;
    if (isLate) return { result: 'timed-out', freedBytes };
    if (freedBytes > 0n || errors.length === 0) return { result: 'done', freedBytes };
    return { ...failed(errors.join('; ')), freedBytes };
  }

  #throttle({ policy, target, memoryHigh }: Act<'throttle'>): Result | Promise<Result> {
    const { memory } = this.parts.hierarchies;
    if (memory?.version !== 2) return failed('cgroup v1 has no memory.high');
    return this.#impose(policy, 'throttle', target, openTarget(memory, target), (cgroup) => {
      const before = cgroup.read('memory.high');
      const bytes = limitOf(memoryHigh, BigInt(cgroup.read('memory.current')));
      const isLower = before !== 'max' && BigInt(before) <= bytes;
      return isLower ? `its memory.high is ${before} already` : { file: 'memory.high', before, written: String(bytes) };
    });
  }

  #freeze({ policy, target }: Act<'freeze'>): Result | Promise<Result> {
    const { native, hierarchies } = this.parts;
    const { memory, unified, freezer } = hierarchies;
    if (memory === undefined) return failed('this machine has no cgroup memory controller');
    const cgroup = openTarget(memory, target);
    if (memory.version === 2) return this.#impose(policy, 'freeze', target, cgroup, freezing('cgroup.freeze', '0', '1'));
    cgroup.close();
    const shared = (other: CgroupHierarchy | undefined): CgroupDirectory | undefined => other && openShared(native, memory, target, other);
    const inUnified = shared(unified);
    if (inUnified) return this.#impose(policy, 'freeze', target, inUnified, freezing('cgroup.freeze', '0', '1'));
    const inFreezer = shared(freezer);
    if (inFreezer) return this.#impose(policy, 'freeze', target, inFreezer, freezing('freezer.state', 'THAWED', 'FROZEN'));
    return failed('no cgroup of a freezer holds its processes and no others');
  }

  /**
   * Closes the cgroup.
   *
   * @param plan  what to write into which file, by the content of its files; or why not
   */
  #impose(
    policy: string,
    kind: Restraint['kind'],
    { id: target, path }: PolicyTarget,
    cgroup: CgroupDirectory,
    plan: (cgroup: CgroupDirectory) => Pick<Restraint, 'file' | 'before' | 'written'> | string,
  ): Result | Promise<Result> {
    let imposing: Promise<void> | undefined;
    try {
      const { restraints, ownCgroup } = this.parts;
      const own = ownCgroup();
      if (path === '/' || path === own || (own !== undefined && isBelow(own, path))) return refused('evictd itself is in it');
      if (restraints.join(kind, target, policy)) return DONE;
      const planned = plan(cgroup);
      if (typeof planned === 'string') return failed(planned);
      imposing = restraints.impose({ kind, target, path, directory: cgroup.path, id: cgroup.id, ...planned }, policy, cgroup);
      return imposing.then(() => DONE);
    } finally {
      if (imposing === undefined) cgroup.close();
    }
  }
}

function freezing(file: 'cgroup.freeze' | 'freezer.state', before: string, written: string) {
  return (cgroup: CgroupDirectory) => (cgroup.read(file) === before ? { file, before, written } : 'it is frozen already');
}

/** Throws Node's errors. */
function openTarget(hierarchy: CgroupHierarchy, target: PolicyTarget): CgroupDirectory {
  return new CgroupDirectory(cgroupDirectory(hierarchy, target.path), idOf(target));
}

/** The cgroup of another hierarchy with the same processes; undefined: there is none. Throws the addon's errors. */
function openShared(
  native: Binding,
  hierarchy: CgroupHierarchy,
  target: PolicyTarget,
  other: CgroupHierarchy,
): CgroupDirectory | undefined {
  const { path } = target;
  const handle = new native.CgroupHandle(cgroupDirectory(hierarchy, path), idOf(target));
  try {
    const shared = openSharedCgroup(native, { handle, hierarchy, path }, other);
    if (shared === undefined) return undefined;
    const { id } = shared.handle;
    shared.handle.close();
    return new CgroupDirectory(shared.directory, id);
  } finally {
    handle.close();
  }
}

/** The inode of its cgroup, which the id of a workload ends with. */
function idOf({ id }: PolicyTarget): bigint | undefined {
  const [, inode] = /#(\d+)$/.exec(id) ?? [];
  return inode === undefined ? undefined : BigInt(inode);
}

function limitOf(limit: ThrottleLimit, usage: bigint): bigint {
  const bytes = limit.kind === 'quantity' ? limit.bytes : limit.kind === 'usage' ? usage : BigInt(Math.floor(Number(usage) * limit.ratio));
  const pages = (bytes + LARGEST_PAGE - 1n) / LARGEST_PAGE;
  return (pages > 0n ? pages : 1n) * LARGEST_PAGE;
}
