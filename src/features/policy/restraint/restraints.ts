import type { CgroupDirectory } from '../../../host/linux/cgroup/cgroup-directory.js';
import type { Log } from '../../../log/log.js';
import { lift, type Lifted, type Restraint, type RestraintKind } from './restraint.js';
import type { RestraintFile } from './restraint-file.js';
import { messageOf } from '../../../errors.js';

interface Held {
  readonly restraint: Restraint;
  /** The policies that want the restraint. The last one lifts it. */
  readonly policies: Set<string>;
  /** Another thread is writing it. */
  isWriting: boolean;
}

/** What is throttled or frozen now. It is in the file before it is written to the kernel, and until it is given back. */
export class Restraints {
  readonly #file: RestraintFile;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #held = new Map<string, Held>();
  /** Restraints of a previous evictd, and restraints that could not be lifted yet. */
  #unlifted: readonly Held[] = [];
  #isUnread = false;
  readonly #warned = new WeakSet<Restraint>();

  constructor(file: RestraintFile, log: Pick<Log, 'info' | 'warn'>) {
    this.#file = file;
    this.#log = log;
  }

  /** Lifts the restraints of a former evictd. Returns those that have been lifted. */
  takeOver(): readonly Restraint[] {
    try {
      this.#unlifted = this.#file.load().map((restraint) => ({ restraint, policies: new Set(), isWriting: false }));
      if (this.#unlifted.length === 0) this.#file.save([]); // of another boot
    } catch (error) {
      this.#isUnread = true;
      this.#log.warn(`cannot read the list of throttled and frozen workloads: ${messageOf(error)}; policies throttle and freeze nothing`, {
        code: 'EVICTD_RESTRAINT_UNREAD',
        hint: `write max to memory.high and 0 to cgroup.freeze of cgroups that are, remove ${this.#file.path}, and restart evictd`,
      });
    }
    return this.retry();
  }

  /** Adds a policy that wants the restraint in force for a workload. false: none is in force. */
  join(kind: RestraintKind, target: string, policy: string): boolean {
    return this.#held.get(keyOf(kind, target))?.policies.add(policy) !== undefined;
  }

  /**
   * Saves the restraint, and writes it on another thread. Resolves when that has returned: it may have been given back
   * meanwhile. Closes the cgroup. Rejects with Node's errors: it is not in force.
   */
  async impose(restraint: Restraint, policy: string, cgroup: CgroupDirectory): Promise<void> {
    const key = keyOf(restraint.kind, restraint.target);
    if (this.#unlifted.some(({ restraint: { file, id } }) => file === restraint.file && id === restraint.id)) {
      cgroup.close();
      throw new Error('what evictd wrote there before could not be restored yet'); // it would be taken for the original value
    }
    const held: Held = { restraint, policies: new Set([policy]), isWriting: true };
    this.#held.set(key, held);
    try {
      this.#save();
      await cgroup.writeApart(restraint.file, restraint.written);
    } catch (error) {
      if (this.#held.get(key) === held) this.#held.delete(key);
      this.#saveLater();
      throw error;
    } finally {
      held.isWriting = false;
      cgroup.close();
      this.retry();
    }
  }

  /** undefined: there is nothing to lift, another policy wants it, or it failed and is tried again. */
  release(kind: RestraintKind, target: string, policy: string): Lifted | undefined {
    const key = keyOf(kind, target);
    const held = this.#held.get(key);
    if (!held?.policies.delete(policy) || held.policies.size > 0) return undefined;
    this.#held.delete(key);
    return this.#lift([held]).get(held.restraint);
  }

  /** Gives back what only policies want that are not in force any more. */
  keepOnly(policies: ReadonlySet<string>): void {
    for (const { restraint, policies: wanting } of [...this.#held.values()])
      for (const policy of [...wanting]) if (!policies.has(policy)) this.release(restraint.kind, restraint.target, policy);
  }

  /** Retries what could not be lifted. Never throws. */
  retry(): readonly Restraint[] {
    const left = this.#unlifted;
    if (left.length === 0) return [];
    this.#unlifted = [];
    return [...this.#lift(left)].flatMap(([restraint, lifted]) => (lifted === 'lifted' ? [restraint] : []));
  }

  /** Gives everything back. */
  close(): void {
    const all = [...this.#unlifted, ...this.#held.values()];
    this.#unlifted = [];
    this.#held.clear();
    this.#lift(all);
  }

  /** What is in force, or may be. */
  get all(): readonly Restraint[] {
    return [...this.#unlifted, ...this.#held.values()].map(({ restraint }) => restraint);
  }

  #lift(given: readonly Held[]): ReadonlyMap<Restraint, Lifted> {
    const results = new Map<Restraint, Lifted>();
    for (const held of given) {
      const { restraint } = held;
      const { path, file, before } = restraint;
      try {
        const lifted = lift(restraint);
        if (lifted === 'lifted') this.#log.info(`${path}: ${file} is ${before} again`);
        results.set(restraint, lifted);
        if (held.isWriting) this.#unlifted = [...this.#unlifted, held]; // the other thread may come after
      } catch (error) {
        this.#unlifted = [...this.#unlifted, held];
        if (this.#warned.has(restraint)) continue;
        this.#warned.add(restraint);
        this.#log.warn(`cannot write ${before} to ${file} of ${path}: ${messageOf(error)}; evictd tries again`, {
          code: 'EVICTD_RESTRAINT_LEFT',
        });
      }
    }
    if (given.length > 0) this.#saveLater();
    return results;
  }

  #save(): void {
    if (this.#isUnread) throw new Error(`${this.#file.path} cannot be read`);
    this.#file.save(this.all);
  }

  /** What is in the file for too long does no harm: it is lifted only where it is in force. */
  #saveLater(): void {
    try {
      if (!this.#isUnread) this.#save();
    } catch (error) {
      this.#log.warn(`cannot save the list of throttled and frozen workloads: ${messageOf(error)}`, { code: 'EVICTD_RESTRAINT_UNSAVED' });
    }
  }
}

function keyOf(kind: RestraintKind, target: string): string {
  return `${kind} ${target}`;
}
