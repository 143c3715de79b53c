import type { Config } from '../../config/config.js';
import { formatDuration } from '../../core/quantity/duration.js';
import type { Log } from '../../log/log.js';
import { RunFile, runFilePath } from '../../state/run-file.js';

export interface SafeModeParts {
  readonly instance: string;
  readonly bootId: string;
  readonly bootNs: () => bigint;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/**
 * After several crashes in a row evictd watches, exports and alerts, and evicts nothing: it may crash because of what it
 * does, and each run would evict again.
 */
export class SafeMode {
  readonly #file: RunFile;
  readonly #withinMs: number;
  readonly #log: SafeModeParts['log'];
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #hasLasted = false;
  #because: string | undefined;

  constructor({ safeMode, runtimeDirectory }: Pick<Config, 'safeMode' | 'runtimeDirectory'>, parts: SafeModeParts) {
    const { instance, bootId, bootNs, log } = parts;
    this.#withinMs = Number(safeMode.withinNs / 1_000_000n);
    this.#log = log;
    const nowMs = (): number => Number(bootNs() / 1_000_000n);
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.#file = new RunFile(runFilePath(runtimeDirectory, instance), { bootId, withinMs: this.#withinMs, nowMs });
    this.#attempt(() => {
      this.#file.begin();
    });
    const { crashes } = this.#file;
    if (safeMode.crashes === 0 || crashes < safeMode.crashes) return;
    this.#because = `evictd has crashed ${String(crashes)} times within ${formatDuration(safeMode.withinNs)}`;
  }

  /** Runs in a row that crashed; 0: the last one was stopped. */
  get crashes(): number {
    return this.#file.crashes;
  }

  /** undefined: evictd evicts. */
  get because(): string | undefined {
    return this.#because;
  }

  /** Logs it, if evictd is in safe mode. */
  announce(): void {
    if (this.#because === undefined) return;
    this.#log.error(`safe mode: ${this.#because}; it watches, exports and alerts, and evicts nothing for ${this.#lastsText()}`, {
      code: 'EVICTD_SAFE_MODE',
      hint: 'journalctl -u evictd shows the crashes; evictd resume ends the safe mode at once',
    });
  }

  /** Call it regularly. Forgets the crashes once evictd has run for long enough; true: that ends the safe mode. */
  renew(): boolean {
    if (this.#hasLasted || this.#nowMs() - this.#startedMs < this.#withinMs) return false;
    return this.#end(`evictd has run for ${this.#lastsText()} without a crash`);
  }

  /** An operator has removed the cause. Whether that ends the safe mode. */
  resume(): boolean {
    return this.#because !== undefined && this.#end('an operator has run evictd resume');
  }

  #end(why: string): boolean {
    this.#hasLasted = true;
    this.#attempt(() => {
      this.#file.settle();
    });
    if (this.#because === undefined) return false;
    this.#because = undefined;
    this.#log.info(`safe mode is over: ${why}; evictd evicts again`);
    return true;
  }

  close(): void {
    this.#attempt(() => {
      this.#file.close();
    });
  }

  #lastsText(): string {
    return formatDuration(BigInt(this.#withinMs) * 1_000_000n);
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#log.warn(`cannot write the run file in the runtime directory: ${String(error)}; a crash of this run is not counted`, {
        code: 'EVICTD_RUN_UNRECORDED',
      });
    }
  }
}
