import { errnoName, isShortage } from '../errors.js';
import type { SignalResult } from '../monitor/ports.js';
import { isShortageOfWindows, thrownText } from '../native/system-error.js';
import type { ProcessEntry, ProcessHandle, WindowsBinding } from '../native/windows-binding.js';

interface Held {
  /** As it was found when it was held. */
  readonly process: ProcessEntry;
  /** undefined: why it could not be had is in `refused`. */
  readonly handle: ProcessHandle | undefined;
  readonly refused: Refusal | undefined;
}

interface Refusal {
  readonly text: string;
  /** For want of something that evictd may have the next time. */
  readonly passes: boolean;
}

function refusal({ pid }: ProcessEntry, error: unknown): Refusal {
  return { text: `process ${String(pid)}: ${thrownText(error)}`, passes: isShortage(error) };
}

/** What a process that evictd ends leaves behind as its exit code: that of `taskkill /F`. */
const EXIT_CODE = 1;

/**
 * Processes that are being ended, each held by its handle. As long as a handle is open the system gives the number of its process to nobody else, ended or not: so whoever names
 * one of them as its parent is its child.
 */
export class HeldProcesses {
  readonly #native: Pick<WindowsBinding, 'ProcessHandle'>;
  readonly #held = new Map<number, Held>();
  #onExit: ((atNs: bigint) => void) | undefined;

  constructor(native: Pick<WindowsBinding, 'ProcessHandle'>) {
    this.#native = native;
  }

  /** 'gone': it has ended. One that cannot be had is known by that. */
  hold(process: ProcessEntry): 'new' | 'known' | 'gone' {
    const { pid, createdAt } = process;
    const known = this.#held.get(pid);
    if (known?.handle !== undefined && known.process.createdAt === createdAt) return 'known';
    try {
      const handle = new this.#native.ProcessHandle(pid, createdAt, (_wake, atNs) => {
        this.#exited(atNs);
      });
      this.#held.set(pid, { process, handle, refused: undefined });
    } catch (error) {
      if (errnoName(error) === 'ERROR_INVALID_PARAMETER') return 'gone';
      this.#held.set(pid, { process, handle: undefined, refused: refusal(process, error) });
    }
    return known === undefined ? 'new' : 'known';
  }

  /** Of whom the system does not tell just now, for want of memory, and who is held: as it was told then. */
  told(entry: ProcessEntry): ProcessEntry {
    const { process, handle } = this.#held.get(entry.pid) ?? {};
    const isHeld = handle !== undefined && process?.createdAt === entry.createdAt && process.errno === 0;
    return isHeld && isShortageOfWindows(entry.errno) ? process : entry;
  }

  /** Those that have been held, whether or not they live. */
  all(): readonly ProcessEntry[] {
    return [...this.#held.values()].flatMap(({ process, handle }) => (handle === undefined ? [] : process));
  }

  /** What cannot be held counts as living. */
  living(): number {
    return [...this.#held.values()].filter(({ handle }) => handle?.exitCode() === undefined).length;
  }

  /** Whoever could not be held, and is not among these any more, has ended. */
  forgetRefused(present: (process: ProcessEntry) => boolean): void {
    for (const [pid, { process, handle }] of this.#held) if (handle === undefined && !present(process)) this.#held.delete(pid);
  }

  /** TerminateProcess of all that live. Never throws. */
  terminate(): SignalResult {
    const errors: Refusal[] = [];
    let processes = 0;
    for (const { process, handle, refused } of this.#held.values()) {
      if (refused !== undefined) errors.push(refused);
      if (handle !== undefined && handle.exitCode() === undefined) {
        try {
          handle.terminate(EXIT_CODE);
          processes += 1;
        } catch (error) {
          errors.push(refusal(process, error));
        }
      }
    }
    const atNs = process.hrtime.bigint();
    if (errors.length === 0) return { atNs, processes, error: undefined };
    const passing = processes > 0 ? 'in part' : errors.some(({ passes }) => passes) ? 'unsent' : undefined;
    return { atNs, processes, error: `TerminateProcess: ${errors.map(({ text }) => text).join(', ')}`, passing };
  }

  /** `callback` when nobody of those that are held lives any more: at most once. */
  onExit(callback: (atNs: bigint) => void): void {
    this.#onExit = callback;
  }

  close(): void {
    this.#onExit = undefined;
    for (const { handle } of this.#held.values()) handle?.close();
    this.#held.clear();
  }

  #exited(atNs: bigint): void {
    if (this.living() > 0) return;
    const callback = this.#onExit;
    this.#onExit = undefined;
    callback?.(atNs);
  }
}
