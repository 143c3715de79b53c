import { ProcessTree, type TreeProcess } from '../core/process-tree.js';
import type { KillInProgress, SignalResult, VictimSample } from '../monitor/ports.js';
import { thrownText } from '../native/system-error.js';
import type { ProcessEntry, WindowsBinding } from '../native/windows-binding.js';
import { HeldProcesses } from './held-processes.js';
import { lastObjection, type Objection, type Spared } from './last-objection.js';

export type TreeNative = Pick<WindowsBinding, 'processes' | 'ProcessHandle'>;

/** Whoever goes on forking is looked for this often in one call; the monitor calls again. */
const MOST_PASSES = 16;
/** To list all processes takes milliseconds: while some are known to live the others are looked for this often. */
const LOOK_EVERY_NS = 20_000_000n;

interface Found {
  /** Somebody is among them who was not known before. */
  readonly isNew: boolean;
  readonly objection: Objection | undefined;
}

/**
 * The end of a process and all that it has started. Nobody but the console that they share could tell them to end, so `terminate` is `kill`. Each pass ends whoever is known and looks who has come meanwhile,
 * until nobody has. What a process has started that was never seen, because it had ended before it was looked for, is nobody's child to the system: it is not found.
 */
export class TreeKill implements KillInProgress {
  readonly #native: TreeNative;
  readonly #root: TreeProcess;
  readonly #spared: Spared;
  readonly #held: HeldProcesses;
  #usageBytes: bigint | undefined;
  #lookedAtNs = 0n;

  private constructor(native: TreeNative, root: ProcessEntry, spared: Spared, held: HeldProcesses) {
    this.#native = native;
    this.#root = root;
    this.#spared = spared;
    this.#held = held;
  }

  /**
   * undefined: it has ended since it was looked at, and its number may be another's.
   *
   * @param root  as a look has found it; held from here on
   */
  static of(native: TreeNative, root: ProcessEntry, spared: Spared): TreeKill | undefined {
    const held = new HeldProcesses(native);
    return held.hold(root) === 'gone' ? undefined : new TreeKill(native, root, spared, held);
  }

  /** Why nobody of it may be ended, by who lives in it now; undefined: nothing is against it. */
  objection(): Objection | undefined {
    try {
      return this.#find().objection;
    } catch (error) {
      return { error: `its processes cannot be listed: ${thrownText(error)}`, passing: 'unsent' };
    }
  }

  terminate(): SignalResult {
    return this.kill();
  }

  kill(): SignalResult {
    let processes = 0;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      let found: Found;
      try {
        found = this.#find();
      } catch (error) {
        const sent = pass === 0 ? { atNs: process.hrtime.bigint(), processes: 0 } : this.#held.terminate();
        const text = `its processes cannot be listed: ${thrownText(error)}`;
        return { ...sent, processes, error: text, passing: pass === 0 ? 'unsent' : 'in part' };
      }
      if (found.objection) {
        const { error, passing } = found.objection;
        const text = `nobody ${processes > 0 ? 'else ' : ''}is ended: ${error}`;
        return { atNs: process.hrtime.bigint(), processes, error: text, passing: passing && processes > 0 ? 'in part' : passing };
      }
      if (pass > 0 && !found.isNew) break;
      const sent = this.#held.terminate();
      processes += sent.processes;
      if (sent.error !== undefined) return { ...sent, processes, passing: processes > 0 ? 'in part' : sent.passing };
    }
    return { atNs: process.hrtime.bigint(), processes, error: undefined };
  }

  read(): VictimSample {
    const timeNs = process.hrtime.bigint();
    if (this.#held.living() === 0 || timeNs - this.#lookedAtNs >= LOOK_EVERY_NS) {
      try {
        this.#find();
      } catch {
        // Nobody is known to live, and whether somebody has come is not: as one process.
        const processes = Math.max(this.#held.living(), 1);
        return { processes, usageBytes: undefined, removed: false };
      }
    }
    const processes = this.#held.living();
    return { processes, usageBytes: this.#usageBytes, removed: processes === 0 };
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#held.onExit(callback);
  }

  close(): void {
    this.#held.close();
  }

  /** Who is in it now, all held. Throws what listing the processes is refused with. */
  #find(): Found {
    const entries = this.#native.processes();
    this.#lookedAtNs = process.hrtime.bigint();
    const present = new Map(entries.map((entry) => [entry.pid, entry]));
    const isPresent = ({ pid, createdAt }: TreeProcess): boolean => present.get(pid)?.createdAt === createdAt;
    const ended = this.#held.all().filter((held) => !isPresent(held));
    const tree = new ProcessTree<TreeProcess>([...entries.filter(({ pid }) => !ended.some((held) => held.pid === pid)), ...ended]);
    // Of those that have ended another one may have the number already, as far as they could not be held.
    const found = tree.below(this.#root).filter(isPresent);
    const members = found.flatMap(({ pid }) => present.get(pid) ?? []).map((member) => this.#held.told(member));
    const isNew = members.map((member) => this.#held.hold(member)).includes('new');
    this.#held.forgetRefused(isPresent);
    this.#usageBytes = members.reduce((sum, { privateBytes }) => sum + privateBytes, 0n);
    return { isNew, objection: lastObjection(members, tree.lineOf(this.#spared.pid), this.#spared) };
  }
}
