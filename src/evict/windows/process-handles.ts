import { errnoName, isShortage } from '../../errors.js';
import type { SignalResult } from '../../monitor/ports/ports.js';
import { isShortageOfWindows, thrownText } from '../../native/system-error.js';
import type { ProcessEntry, ProcessHandle, WindowsBinding } from '../../native/windows-binding.js';

interface Held {
  /** The entry when the process was first seen. */
  readonly process: ProcessEntry;
  /** undefined: opening failed, see `refused`. */
  readonly handle: ProcessHandle | undefined;
  readonly refused: Refusal | undefined;
}

interface Refusal {
  readonly text: string;
  /** Whether a later attempt may succeed (a shortage of resources). */
  readonly passes: boolean;
}

function refusal({ pid }: ProcessEntry, error: unknown): Refusal {
  return { text: `process ${String(pid)}: ${thrownText(error)}`, passes: isShortage(error) };
}

/** The exit code of ended processes, as with `taskkill /F`. */
export const EXIT_CODE = 1;

/**
 * Processes that are being ended, each with an open handle. While the handle is open, Windows does not reuse the pid,
 * even after the exit; so a process that names the pid as its parent is really its child.
 */
export class HeldProcesses {
  readonly #held = new Map<number, Held>();
  #onExit: ((atNs: bigint) => void) | undefined;

  constructor(private readonly native: Pick<WindowsBinding, 'ProcessHandle'>) {}

  /** 'exited': the process has ended. A process that cannot be opened counts as known. */
  hold(process: ProcessEntry): 'new' | 'known' | 'exited' {
    const { pid, createdAt } = process;
    const known = this.#held.get(pid);
    if (known?.handle !== undefined && known.process.createdAt === createdAt) return 'known';
    try {
      const handle = new this.native.ProcessHandle(pid, createdAt, (_wake, atNs) => {
        this.#exited(atNs);
      });
      this.#held.set(pid, { process, handle, refused: undefined });
    } catch (error) {
      if (errnoName(error) === 'ERROR_INVALID_PARAMETER') return 'exited';
      this.#held.set(pid, { process, handle: undefined, refused: refusal(process, error) });
    }
    return known === undefined ? 'new' : 'known';
  }

  /** The values at the time of opening, if Windows lacks the memory to report current ones. */
  entryOf(entry: ProcessEntry): ProcessEntry {
    const { process, handle } = this.#held.get(entry.pid) ?? {};
    const isHeld = handle !== undefined && process?.createdAt === entry.createdAt && process.errno === 0;
    return isHeld && isShortageOfWindows(entry.errno) ? process : entry;
  }

  /** All opened processes, ended or not. */
  all(): readonly ProcessEntry[] {
    return [...this.#held.values()].flatMap(({ process, handle }) => (handle === undefined ? [] : process));
  }

  /** A process that could not be opened counts as living. */
  living(): number {
    return [...this.#held.values()].filter(({ handle }) => handle?.exitCode() === undefined).length;
  }

  /** Drops processes that could not be opened and have ended. */
  forgetRefused(present: (process: ProcessEntry) => boolean): void {
    for (const [pid, { process, handle }] of this.#held) if (handle === undefined && !present(process)) this.#held.delete(pid);
  }

  /** TerminateProcess for all that live. Never throws. */
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

  /** `callback`: called at most once, when no opened process lives any more. */
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
