import type { Decision } from '../../core/decide/eviction.js';
import { victimId } from '../../core/workload/process.js';
import type {
  RecordedStep,
  RecordedCandidates,
  RecordedDecision,
  RecordingEntry,
  RecordingHeader,
} from '../../recording/recording-format.js';
import type { ReplayReport, RunReport } from './replay-report.js';
import { EvictdError, InputError } from '../../errors.js';
import { RecordedClock } from '../../recording/recorded-clock.js';
import { RecordingStream, type RecordingEnd } from '../../recording/recording-stream.js';
import { Comparison } from './comparison.js';
import type { OtherConfig } from './other-config.js';
import { RecordedRun } from './recorded-run.js';
import { ReplayedRecords } from './replayed-journal.js';

/**
 * Replays every run of a recording, and also with another configuration if there is one.
 *
 * @throws InputError  if the file is not a recording or has a malformed line; also what `other` throws
 */
export async function replay(file: string, other: OtherConfig | undefined): Promise<ReplayReport> {
  const stream = await RecordingStream.open(file);
  const runs: RunReport[] = [];
  let replaying = new Replaying(stream.header, other);
  for await (const { line, entry } of stream.entries()) {
    if (entry.kind === 'run') {
      runs.push(replaying.report(entry.before));
      replaying = new Replaying(entry.header, other);
      continue;
    }
    try {
      replaying.entry(entry);
    } catch (error) {
      if (error instanceof EvictdError) throw error;
      const message = `${file}:${String(line)}: this ${entry.kind} cannot be replayed: ${String(error)}`;
      const hint = 'the line was edited, or written by an incompatible version of evictd';
      throw new InputError('EVICTD_RECORDING_LINE', message, { isMissing: false, hint, cause: error });
    }
  }
  return { file, damages: stream.damages, runs: [...runs, replaying.report(stream.end)] };
}

class Replaying {
  readonly #header: RecordingHeader;
  readonly #clock: RecordedClock;
  readonly #other: OtherConfig | undefined;
  readonly #run = new RecordedRun();
  readonly #replayed = new ReplayedRecords();
  readonly #deviations: string[] = [];
  #comparison: Comparison | undefined;
  /** A recorded step that the other run has not made yet: it also uses the workloads that are read right after it. */
  #pending: { readonly entry: RecordedStep; readonly decided: readonly Decision[] } | undefined;
  #span: { readonly fromNs: bigint; readonly toNs: bigint } | undefined;
  #steps = 0;
  #lost = 0;

  constructor(header: RecordingHeader, other: OtherConfig | undefined) {
    this.#header = header;
    this.#clock = new RecordedClock(header);
    this.#other = other;
  }

  entry(entry: RecordingEntry): void {
    this.#compare(entry.kind === 'sample' ? entry : undefined);
    switch (entry.kind) {
      case 'policy':
        this.#run.reconfigure(entry.policy);
        if (this.#comparison) this.#comparison.follow(entry.policy);
        else if (this.#other) this.#comparison = new Comparison(this.#other, this.#header, entry.policy);
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

  report(end: RecordingEnd): RunReport {
    this.#compare(undefined);
    const span = this.#span && { from: this.#time(this.#span.fromNs), to: this.#time(this.#span.toNs) };
    return {
      header: this.#header,
      end,
      span,
      steps: this.#steps,
      lost: this.#lost,
      records: this.#replayed.records,
      deviations: this.#deviations,
      other: this.#comparison?.report(this.#replayed.decisions, (atNs) => this.#time(atNs)),
    };
  }

  #step(entry: RecordedStep): void {
    const { nowNs } = entry.input;
    this.#clock.follow(entry);
    this.#steps += 1;
    this.#span = { fromNs: this.#span?.fromNs ?? nowNs, toNs: nowNs };
    const decided = this.#replayed.add(entry, this.#run.step(entry), this.#time(nowNs));
    this.#deviations.push(...deviations(entry.decisions, decided).map((text) => `${this.#time(nowNs)} ${text}`));
    this.#pending = { entry, decided };
  }

  #compare(after: RecordedCandidates | undefined): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending) this.#comparison?.step(pending.entry, pending.decided, after, this.#time(pending.entry.input.nowNs));
  }

  #time(atNs: bigint): string {
    return new Date(this.#clock.at(atNs)).toISOString();
  }
}

function deviations(recorded: readonly RecordedDecision[], decided: readonly Decision[]): string[] {
  const names = (victims: readonly string[]): string => victims.join(', ') || 'no workload';
  const before = names(recorded.map(({ victim }) => victim));
  const now = names(decided.map(({ victim }) => victimId(victim)));
  return before === now ? [] : [`the recorded evictd chose ${before}, this version chooses ${now}`];
}
