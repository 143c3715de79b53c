import type { Config } from '../../config/config.js';
import type { Decision } from '../../core/eviction.js';
import { InputError } from '../../errors.js';
import { RecordingStream, type NumberedEntry } from '../../monitor/recording/stream.js';
import type { RecordedCandidates, RecordedDecision, RecordedStep } from '../../monitor/recording/format.js';
import { Comparison } from './comparison.js';
import type { ReplayReport } from './report.js';
import { RecordedRun } from './run.js';
import { Told } from './told.js';

/**
 * Feeds a recording through the step: as recorded and, where there is another configuration, under that beside it.
 *
 * @throws InputError  where the file is no recording, or one of its lines is wrong
 */
export async function replay(file: string, other: Config | undefined): Promise<ReplayReport> {
  const stream = await RecordingStream.open(file);
  const replaying = new Replaying(stream, other);
  for await (const numbered of stream.entries()) {
    try {
      replaying.entry(numbered);
    } catch (error) {
      const message = `${file}:${String(numbered.line)}: this ${numbered.entry.kind} cannot be replayed: ${String(error)}`;
      const hint = 'the line was changed, or written by an evictd that records otherwise';
      throw new InputError('EVICTD_RECORDING_LINE', message, { isMissing: false, hint, cause: error });
    }
  }
  return replaying.report(file);
}

class Replaying {
  readonly #stream: RecordingStream;
  readonly #other: Config | undefined;
  readonly #run = new RecordedRun();
  readonly #told = new Told();
  readonly #deviations: string[] = [];
  #comparison: Comparison | undefined;
  /** A step of the recorded run that the other configuration has not made yet: workloads that were read right after it belong to it. */
  #pending: { readonly entry: RecordedStep; readonly decided: readonly Decision[] } | undefined;
  #span: { readonly fromNs: bigint; readonly toNs: bigint } | undefined;
  #steps = 0;
  #lost = 0;

  constructor(stream: RecordingStream, other: Config | undefined) {
    this.#stream = stream;
    this.#other = other;
  }

  entry({ entry }: NumberedEntry): void {
    this.#compare(entry.kind === 'sample' ? entry : undefined);
    switch (entry.kind) {
      case 'policy':
        this.#run.reconfigure(entry.policy);
        if (this.#other) this.#comparison ??= new Comparison(this.#other, this.#stream.header, entry.policy);
        return;
      case 'config':
        this.#comparison?.reconfigure(entry.config);
        return;
      case 'state':
        this.#run.resume(entry.state);
        this.#lost += entry.lost;
        if (this.#steps === 0) this.#comparison?.resume(entry.state);
        return;
      case 'step':
        this.#step(entry);
        return;
      case 'sample':
      case 'end':
        return;
    }
  }

  report(file: string): ReplayReport {
    this.#compare(undefined);
    const span = this.#span && { from: this.#time(this.#span.fromNs), to: this.#time(this.#span.toNs) };
    return {
      file,
      header: this.#stream.header,
      end: this.#stream.end,
      span,
      steps: this.#steps,
      lost: this.#lost,
      records: this.#told.records,
      deviations: this.#deviations,
      other: this.#comparison?.report(this.#told.decisions, (atNs) => this.#time(atNs)),
    };
  }

  #step(entry: RecordedStep): void {
    const { nowNs } = entry.input;
    this.#steps += 1;
    this.#span = { fromNs: this.#span?.fromNs ?? nowNs, toNs: nowNs };
    const decided = this.#told.add(entry, this.#run.step(entry), this.#time(nowNs));
    this.#deviations.push(...deviations(entry.decisions, decided).map((text) => `${this.#time(nowNs)} ${text}`));
    this.#pending = { entry, decided };
  }

  #compare(after: RecordedCandidates | undefined): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending) this.#comparison?.step(pending.entry, pending.decided, after, this.#time(pending.entry.input.nowNs));
  }

  #time(atNs: bigint): string {
    const { startedAt, startedAtNs } = this.#stream.header;
    return new Date(Date.parse(startedAt) + Number(atNs - startedAtNs) / 1e6).toISOString();
  }
}

function deviations(recorded: readonly RecordedDecision[], decided: readonly Decision[]): string[] {
  const names = (victims: readonly string[]): string => victims.join(', ') || 'nobody';
  const before = names(recorded.map(({ victim }) => victim));
  const now = names(decided.map(({ victim }) => victim.workload.id));
  return before === now ? [] : [`the recorded evictd chose ${before}, this one chooses ${now}`];
}
