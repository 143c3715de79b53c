import type { Policy, State } from '../../core/state.js';
import type { NodeIdentity } from '../ports.js';
import { RecordingFile, SharedFileError } from './file.js';
import type { RecordingLimits } from './place.js';
import { RecordingWriting } from './writing.js';
import { RECORDING_FORMAT, type RecordedConfig, type RecordedStep, type RecordingEntry } from './format.js';

/** How long a kill −9 may take along. */
const GATHER_MS = 1_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 60_000;
/** Steps and workloads that wait at most: about 10 MiB. */
const WAITING_AT_MOST = 32_768;
/** … and that are written in one go, so that the loop's turn comes. */
const BATCH = 1_024;

/** Something to write, with what was in force and the state that the step led to. */
export interface QueuedEntry {
  readonly entry: Extract<RecordingEntry, { kind: 'step' | 'sample' }>;
  readonly policy: Policy;
  readonly config: RecordedConfig;
  readonly state: State;
}

export interface RecordingQueueOptions {
  readonly path: string;
  readonly limits: RecordingLimits;
  readonly version: string;
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** What the run begins with; left out: nothing is known. */
  readonly initial?: State;
  /** At the first of several failures in a row. */
  readonly onError: (error: Error) => void;
  /** At the first loss since something was written. */
  readonly onLost: () => void;
}

/**
 * Takes entries to the file in its own time: a full, read-only or hung disk keeps one thread of libuv's pool busy at most and delays nobody. Beyond
 * what may wait the oldest entries are lost, counted, and the file says so.
 */
export class RecordingQueue {
  readonly #options: RecordingQueueOptions;
  #waiting: QueuedEntry[] = [];
  #weight = 0;
  #file: RecordingFile | undefined;
  /** What is in FILE is full, or another's: the next one is begun anew. */
  #isContinued = false;
  /** Steps that the file was given and has not written. */
  #unwritten = 0;
  #writing = new RecordingWriting();
  /** What the file has. */
  #written: { policy?: Policy; config?: RecordedConfig; state?: State } = {};
  /** Steps are missing before the first that waits. */
  #gap: { readonly lost: number; readonly state: State } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = 0;
  #working: Promise<boolean> | undefined;
  #ending = false;
  #ended = false;
  lost = 0;

  constructor(options: RecordingQueueOptions) {
    this.#options = options;
    if (options.initial) this.#written = { state: options.initial };
  }

  push(queued: QueuedEntry): void {
    this.#waiting.push(queued);
    this.#weight += weightOf(queued);
    if (this.#weight > WAITING_AT_MOST) this.#lose();
    this.#later(GATHER_MS);
  }

  /** Nothing more will come. */
  end(): void {
    this.#ending = true;
  }

  /** Waits until everything is written or `timeoutMs` has passed; tells whether it is. */
  async flush(timeoutMs: number): Promise<boolean> {
    clearTimeout(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false);
    });
    const written = await Promise.race([late, (this.#working ?? Promise.resolve(true)).then(() => this.#work())]);
    clearTimeout(timer);
    return written && this.#waiting.length === 0 && this.#ended === this.#ending;
  }

  /** Half of them, so that this is not done at every step from now on. */
  #lose(): void {
    if (this.#gap === undefined) this.#options.onLost();
    const dropped = this.#take(WAITING_AT_MOST / 2);
    const last = dropped.at(-1);
    if (last === undefined) return;
    const steps = stepsIn(dropped);
    this.lost += steps;
    this.#gap = { lost: (this.#gap?.lost ?? 0) + steps, state: last.state };
  }

  /** The oldest that together weigh so much: at least one. */
  #take(weight: number): QueuedEntry[] {
    let taken = 0;
    const beyond = this.#waiting.findIndex((queued) => (taken += weightOf(queued)) >= weight);
    const entries = this.#waiting.splice(0, beyond === -1 ? this.#waiting.length : beyond + 1);
    this.#weight -= entries.reduce((sum, queued) => sum + weightOf(queued), 0);
    return entries;
  }

  #later(ms: number): void {
    if (this.#timer !== undefined || this.#working !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#work();
    }, ms).unref();
  }

  /** Never rejects; tells whether all that waited was written. */
  #work(): Promise<boolean> {
    this.#working ??= this.#drain().then(
      () => {
        this.#retryMs = 0;
        this.#working = undefined;
        if (this.#waiting.length > 0) this.#later(GATHER_MS);
        return true;
      },
      (error: unknown) => {
        if (this.#retryMs === 0) this.#options.onError(error instanceof Error ? error : new Error(String(error)));
        this.#retryMs = Math.min(2 * this.#retryMs || RETRY_FIRST_MS, RETRY_MOST_MS);
        this.#working = undefined;
        this.#later(this.#retryMs);
        return false;
      },
    );
    return this.#working;
  }

  async #drain(): Promise<void> {
    if (this.#file) await this.#settled(this.#file, this.#file.retry());
    while (this.#waiting.length > 0) {
      const file = (this.#file ??= new RecordingFile(this.#options.path, this.#options.limits, this.#isContinued));
      await this.#settled(file, file.write(this.#nextText()));
      if (this.#file === file && file.isFull) {
        this.#isContinued = true;
        await this.#close();
      }
    }
    if (this.#ending && !this.#ended) {
      await this.#close();
      this.#ended = true;
    }
  }

  /** Where another process writes there, too, what the file has not written is lost, and the next one is begun. */
  async #settled(file: RecordingFile, writing: Promise<void>): Promise<void> {
    try {
      await writing;
      this.#unwritten = 0;
    } catch (error) {
      if (!(error instanceof SharedFileError)) throw error;
      this.#options.onError(error);
      const { state } = this.#written;
      this.lost += this.#unwritten;
      if (state) this.#gap = { lost: this.#unwritten + (this.#gap?.lost ?? 0), state: this.#gap?.state ?? state };
      this.#unwritten = 0;
      this.#isContinued = true;
      this.#file = undefined;
      this.#writing = new RecordingWriting();
      this.#written = {};
      await file.close();
    }
  }

  async #close(): Promise<void> {
    const file = this.#file;
    const text = this.#writing.entry({ kind: 'end', lost: this.lost });
    const { state } = this.#written;
    this.#file = undefined;
    this.#writing = new RecordingWriting();
    this.#written = state === undefined ? {} : { state };
    await file?.end(text);
  }

  /** The lines of the next entries, and what must stand before them. */
  #nextText(): string {
    const batch = this.#take(BATCH);
    this.#unwritten += stepsIn(batch);
    return batch
      .map((queued) => {
        const lines = this.#before(queued) + this.#writing.entry(queued.entry);
        this.#written = { policy: queued.policy, config: queued.config, state: queued.state };
        return lines;
      })
      .join('');
  }

  #before({ policy, config }: QueuedEntry): string {
    const { version, node, dryRun } = this.#options;
    const isNew = this.#written.policy === undefined;
    const state = this.#gap?.state ?? (isNew ? this.#written.state : undefined);
    const lost = this.#gap?.lost ?? 0;
    this.#gap = undefined;
    const header = { format: RECORDING_FORMAT, version, node, dryRun, config };
    return [
      isNew ? this.#writing.header({ ...header, startedAt: new Date().toISOString(), startedAtNs: process.hrtime.bigint() }) : '',
      isNew || config === this.#written.config ? '' : this.#writing.entry({ kind: 'config', config }),
      policy === this.#written.policy ? '' : this.#writing.entry({ kind: 'policy', policy }),
      state === undefined ? '' : this.#writing.entry({ kind: 'state', state, lost }),
    ].join('');
  }
}

function stepsIn(entries: readonly QueuedEntry[]): number {
  return entries.filter(({ entry }) => entry.kind === 'step').length;
}

function weightOf({ entry }: QueuedEntry): number {
  const candidates: readonly RecordedStep['candidates'][number][] = entry.kind === 'step' ? entry.candidates : [entry];
  return 1 + candidates.reduce((sum, { candidates: { usages } }) => sum + usages.length, 0);
}
