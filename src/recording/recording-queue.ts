import type { Policy, State } from '../core/decide/state.js';
import { AppendQueue } from '../storage/append-queue.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
import { RecordingFile, SharedFileError, type RecordingLimits } from './recording-file.js';
import { RecordingWriting } from './line-writing.js';
import { RECORDING_FORMAT, type RecordedConfig, type RecordedStep, type RecordingEntry } from './recording-format.js';

/** The time whose entries a SIGKILL may lose. */
const GATHER_MS = 1_000;
/** Steps and workloads that may wait: about 10 MiB. */
const LIMIT = 32_768;
/** How many of them are written in one go, so that the loop runs in between. */
const BATCH = 1_024;

/** An entry with the policy and configuration in force, and the state that the step led to. */
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
  /** The state that the run begins with; left out: it is not known. */
  readonly initial?: State;
  /** Called at the first of several failures in a row. */
  readonly onError: (error: Error) => void;
  /** Called at the first loss since the last write. */
  readonly onLost: () => void;
}

/** Writes entries to the file. Beyond what may wait the oldest entries are lost, counted, and the file says so. */
export class RecordingQueue {
  readonly #queue: AppendQueue<QueuedEntry>;
  #file: RecordingFile | undefined;
  /** FILE has been written by this run and is full, or another process writes to it: a new one is begun. */
  #isContinued = false;
  #unwritten = 0;
  #writing = new RecordingWriting();
  /** The values that the file already has. */
  #written: { policy?: Policy; config?: RecordedConfig; state?: State } = {};
  /** Steps are missing before the first that waits. */
  #gap: { readonly lost: number; readonly state: State } | undefined;
  #ending = false;
  #ended = false;
  lost = 0;

  constructor(private readonly options: RecordingQueueOptions) {
    if (options.initial) this.#written = { state: options.initial };
    this.#queue = new AppendQueue({
      limit: LIMIT,
      keep: LIMIT / 2,
      weigh: weightOf,
      gatherMs: GATHER_MS,
      write: () => this.#drain(),
      hasMore: () => this.#ending && !this.#ended,
      dropped: (entries) => {
        this.#lose(entries);
      },
      failed: (error, isFirst) => {
        if (isFirst) options.onError(error);
      },
    });
  }

  push(queued: QueuedEntry): void {
    this.#queue.push(queued);
  }

  end(): void {
    this.#ending = true;
  }

  /** Returns whether everything is written, after at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean> {
    return this.#queue.flush(timeoutMs);
  }

  #lose(entries: readonly QueuedEntry[]): void {
    if (this.#gap === undefined) this.options.onLost();
    const last = entries.at(-1);
    if (last === undefined) return;
    const steps = stepsIn(entries);
    this.lost += steps;
    this.#gap = { lost: (this.#gap?.lost ?? 0) + steps, state: last.state };
  }

  async #drain(): Promise<void> {
    if (this.#file) await this.#settled(this.#file, this.#file.retry());
    while (this.#queue.list().length > 0) {
      const file = (this.#file ??= new RecordingFile(this.options.path, this.options.limits, this.#isContinued));
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

  /** If another process writes to the file, too, unwritten steps are lost, and a new file is begun. */
  async #settled(file: RecordingFile, writing: Promise<void>): Promise<void> {
    try {
      await writing;
      this.#unwritten = 0;
    } catch (error) {
      if (!(error instanceof SharedFileError)) throw error;
      this.options.onError(error);
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

  /** The lines of the next entries, with the definitions that they need. */
  #nextText(): string {
    const batch = this.#queue.take(BATCH);
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
    const { version, node, dryRun } = this.options;
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
