import { ProcessTree, type TreeProcess } from '../../core/windows/process-tree.js';
import type { KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';
import type { ProcessEntry, WindowsBinding } from '../../native/windows-binding.js';
import { HeldProcesses } from './process-handles.js';
import { killRefusal, type KillRefusal, type ProtectedProcesses } from './protected-process.js';

type TreeNative = Pick<WindowsBinding, 'processes' | 'ProcessHandle'>;

/** Passes in one call for a tree that keeps forking; the monitor calls again. */
const MAX_PASSES = 16;
/** Listing all processes takes milliseconds: while known ones live, new ones are searched at this interval. */
const LOOK_EVERY_NS = 20_000_000n;

interface Found {
  readonly isNew: boolean;
  readonly objection: KillRefusal | undefined;
}

/**
 * Ends a process and its descendants. Windows has no way to ask them to end, so `terminate` is `kill`. Each pass ends
 * the known processes and searches new ones, until there are none. A descendant whose parent ended unseen cannot be
 * found.
 */
export class TreeKill implements KillInProgress {
  readonly #native: TreeNative;
  readonly #root: TreeProcess;
  readonly #spared: ProtectedProcesses;
  readonly #held: HeldProcesses;
  #usageBytes: bigint | undefined;
  #lookedAtNs = 0n;

  private constructor(native: TreeNative, root: ProcessEntry, spared: ProtectedProcesses, held: HeldProcesses) {
    this.#native = native;
    this.#root = root;
    this.#spared = spared;
    this.#held = held;
  }

  /**
   * undefined: the process has ended, and its pid may be reused.
   *
   * @param root  held from here on
   */
  static of(native: TreeNative, root: ProcessEntry, spared: ProtectedProcesses): TreeKill | undefined {
    const held = new HeldProcesses(native);
    return held.hold(root) === 'exited' ? undefined : new TreeKill(native, root, spared, held);
  }

  /** Why the tree must not be ended, from its current processes; undefined: nothing forbids it. */
  objection(): KillRefusal | undefined {
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
    for (let pass = 0; pass < MAX_PASSES; pass++) {
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
        const text = `no ${processes > 0 ? 'other ' : ''}process was ended: ${error}`;
        return { atNs: process.hrtime.bigint(), processes, error: text, passing: passing && processes > 0 ? 'in part' : passing };
      }
      if (pass > 0 && !found.isNew) break;
      const sent = this.#held.terminate();
      processes += sent.processes ?? 0;
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
        // No known process lives; new ones are unknown. Counts as one.
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

  /** Holds all current processes. Throws if they cannot be listed. */
  #find(): Found {
    const entries = this.#native.processes();
    this.#lookedAtNs = process.hrtime.bigint();
    const present = new Map(entries.map((entry) => [entry.pid, entry]));
    const isPresent = ({ pid, createdAt }: TreeProcess): boolean => present.get(pid)?.createdAt === createdAt;
    const ended = this.#held.all().filter((held) => !isPresent(held));
    const tree = new ProcessTree<TreeProcess>([...entries.filter(({ pid }) => !ended.some((held) => held.pid === pid)), ...ended]);
    // The pids of ended processes that could not be held may be reused.
    const found = tree.below(this.#root).filter(isPresent);
    const members = found.flatMap(({ pid }) => present.get(pid) ?? []).map((member) => this.#held.entryOf(member));
    const isNew = members.map((member) => this.#held.hold(member)).includes('new');
    this.#held.forgetRefused(isPresent);
    this.#usageBytes = members.reduce((sum, { privateBytes }) => sum + privateBytes, 0n);
    return { isNew, objection: killRefusal(members, tree.lineOf(this.#spared.pid), this.#spared) };
  }
}
