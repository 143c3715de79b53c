import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { checkedJson } from '../storage/checked-json.js';
import { replaceFileSync } from '../storage/directory.js';
import { attempt } from '../errors.js';

/** What the run before left. Times in milliseconds since the boot. */
interface LastRun {
  readonly bootId: string;
  /** Earlier runs that ended without a stop. */
  readonly crashesMs: readonly number[];
}

/** The file of an instance (instanceName of the host). */
export function runFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.run.json`);
}

/** How often the evictd that runs had crashed when it began; 0: it has settled, or none runs. Throws Node's error. */
export function crashesNotedIn(path: string): number {
  if (!existsSync(path)) return 0;
  return lastRun(readFileSync(path, 'utf8'))?.crashesMs.length ?? 0;
}

/** undefined: not written by evictd. */
function lastRun(text: string): LastRun | undefined {
  return attempt(() => checkedJson(text, z.object({ bootId: z.string(), crashesMs: z.array(z.number()) })));
}

/**
 * A file in the runtime directory that exists while evictd runs. If a start finds it, the run before was not stopped:
 * it crashed, was killed, or was ended by the watchdog. Runs of another boot do not count (reset-file.ts does that).
 */
export class RunFile {
  readonly #path: string;
  readonly #bootId: string;
  readonly #withinMs: number;
  readonly #nowMs: () => number;
  #crashesMs: readonly number[] = [];
  #isFirst = true;

  constructor(path: string, { bootId, withinMs, nowMs }: { bootId: string; withinMs: number; nowMs: () => number }) {
    this.#path = path;
    this.#bootId = bootId;
    this.#withinMs = withinMs;
    this.#nowMs = nowMs;
  }

  /** How many runs in a row crashed within the time, the last one included; 0: the last run was stopped. */
  get crashes(): number {
    return this.#crashesMs.length;
  }

  /** No run of this boot has left the file. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  /** This run begins. Throws Node's error if the file cannot be written: then this run is not counted. */
  begin(): void {
    const last = this.#read();
    const nowMs = this.#nowMs();
    this.#isFirst = last?.bootId !== this.#bootId;
    if (last && !this.#isFirst) this.#crashesMs = [...last.crashesMs, nowMs].filter((atMs) => nowMs - atMs <= this.#withinMs);
    this.#write();
  }

  /** Earlier boots ended in a way that counts as crashes. Throws Node's error. */
  add(crashes: number): void {
    this.#crashesMs = [...this.#crashesMs, ...Array<number>(crashes).fill(this.#nowMs())];
    this.#write();
  }

  /** This run has lasted: earlier crashes count no more. */
  settle(): void {
    this.#crashesMs = [];
    this.#write();
  }

  /** A stop: this run has not crashed. */
  close(): void {
    rmSync(this.#path, { force: true });
  }

  #write(): void {
    const run: LastRun = { bootId: this.#bootId, crashesMs: this.#crashesMs };
    replaceFileSync(this.#path, `${JSON.stringify(run)}\n`, 0o600);
  }

  /** undefined: there is none. What is damaged is a run that crashed while it wrote. */
  #read(): LastRun | undefined {
    const text = attempt(() => readFileSync(this.#path, 'utf8'));
    if (text === undefined) return undefined;
    return lastRun(text) ?? { bootId: this.#bootId, crashesMs: [] };
  }
}
