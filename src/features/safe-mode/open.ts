import type { Config } from '../../config/config.js';
import { formatDuration } from '../../core/quantity/duration.js';
import type { Log } from '../../log/log.js';
import type { StepListener } from '../../monitor/ports/ports.js';
import { ResetFile, resetFilePath } from '../../state/reset-file.js';
import type { Turns } from '../../storage/turns.js';
import { RunFile, runFilePath } from '../../state/run-file.js';

export interface SafeModeParts {
  readonly instance: string;
  /** Of the state directory. */
  readonly turns: Turns;
  readonly bootId: string;
  readonly bootNs: () => bigint;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/**
 * After several crashes in a row evictd watches, exports and alerts, and evicts nothing: it may crash because of what it
 * does, and each run would evict again. The same holds for a machine that goes down soon after an eviction.
 */
export class SafeMode {
  readonly #file: RunFile;
  /** undefined: boots have no names here. */
  readonly #resets: ResetFile | undefined;
  readonly #limit: number;
  /** The last eviction that the machine has not outlasted. */
  #evictedMs: number | undefined;
  readonly #withinMs: number;
  readonly #log: SafeModeParts['log'];
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #hasLasted = false;
  #because: string | undefined;

  constructor(config: Pick<Config, 'safeMode' | 'runtimeDirectory' | 'stateDirectory'>, parts: SafeModeParts) {
    const { safeMode, runtimeDirectory, stateDirectory } = config;
    const { instance, turns, bootId, bootNs, log } = parts;
    this.#limit = safeMode.crashes;
    this.#resets = bootId === '' ? undefined : new ResetFile(resetFilePath(stateDirectory, instance), bootId, turns);
    this.#withinMs = Number(safeMode.withinNs / 1_000_000n);
    this.#log = log;
    const nowMs = (): number => Number(bootNs() / 1_000_000n);
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.#file = new RunFile(runFilePath(runtimeDirectory, instance), { bootId, withinMs: this.#withinMs, nowMs });
    this.#attempt(() => {
      this.#file.begin();
    });
    if (this.#hasTooMany) this.#because = `evictd has crashed ${String(this.crashes)} times within ${this.#lastsText()}`;
  }

  get #hasTooMany(): boolean {
    return this.#limit > 0 && this.crashes >= this.#limit;
  }

  /**
   * Counts earlier boots that went down soon after an eviction, once in a boot. true: that begins the safe mode. The state
   * directory may hang, so no start waits for it. Never rejects.
   */
  async countResets(): Promise<boolean> {
    const found = await this.#onDisk((resets) => resets.read());
    if (found?.isNamed) this.#evictedMs ??= this.#startedMs;
    if (found === undefined || found.resets === 0 || !this.#file.isFirst) return false;
    this.#attempt(() => {
      this.#file.add(found.resets);
    });
    if (this.#because !== undefined || !this.#hasTooMany) return false;
    const times = found.resets === 1 ? 'once' : `${String(found.resets)} times in a row`;
    this.#because = `the machine went down ${times} within ${this.#lastsText()} after an eviction, and not by a shutdown`;
    return true;
  }

  /** Names this boot in the state directory at its first eviction, until the machine has outlasted it. */
  readonly listener: StepListener = {
    stepped: ({ effects }) => {
      if (!effects.some(({ kind }) => kind === 'evict')) return;
      const isNew = this.#evictedMs === undefined;
      this.#evictedMs = this.#nowMs();
      if (isNew) void this.#onDisk((resets) => resets.name());
    },
    skipped: () => true,
    close: () => undefined, // not yet: a crash while evictd stops counts
  };

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
    if (this.#evictedMs !== undefined && this.#nowMs() - this.#evictedMs >= this.#withinMs) void this.#forget();
    if (this.#hasLasted || this.#nowMs() - this.#startedMs < this.#withinMs) return false;
    return this.#end(`evictd has run for ${this.#lastsText()} without a crash`);
  }

  /** An operator has removed the cause. Whether that ends the safe mode. */
  resume(): boolean {
    void this.#forget();
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

  /** evictd is stopped: the machine has outlasted all evictions. The state directory may hang. */
  async stopped(timeoutMs: number): Promise<void> {
    await this.#forget(timeoutMs);
  }

  async #forget(timeoutMs?: number): Promise<void> {
    this.#evictedMs = undefined;
    await this.#onDisk((resets) => resets.forget(timeoutMs));
  }

  /** undefined: not possible, which is logged. */
  async #onDisk<T>(use: (resets: ResetFile) => Promise<T>): Promise<T | undefined> {
    try {
      return this.#resets && this.#limit > 0 ? await use(this.#resets) : undefined;
    } catch (error) {
      this.#unrecorded('state', error);
      return undefined;
    }
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
      this.#unrecorded('runtime', error);
    }
  }

  #unrecorded(directory: 'runtime' | 'state', error: unknown): void {
    const what = directory === 'runtime' ? 'a crash of this run' : 'a reset of the machine after an eviction';
    this.#log.warn(`cannot use the run file in the ${directory} directory: ${String(error)}; ${what} is not counted`, {
      code: 'EVICTD_RUN_UNRECORDED',
    });
  }
}
