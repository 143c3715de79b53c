import type { State } from '../../core/state.js';
import type { Candidates, Protection, Workload } from '../../core/workload.js';
import type { StepListener, StepReport, WorkloadSource } from '../ports.js';
import { RecordingQueue, type RecordingQueueOptions } from './queue.js';
import type { RecordedCandidates, RecordedConfig, RecordedStep, Vetoes } from './format.js';

/** Ticks come a little early or late. */
const SLACK_NS = 100_000_000n;

export interface RecorderOptions extends RecordingQueueOptions {
  readonly config: RecordedConfig;
  /** How often the workloads are read though nobody has to go; 0: never. No more often than ticks come. */
  readonly sampleEveryNs: bigint;
}

/**
 * Records what every step was told (docs/replay.md). It takes values over and returns; they are written about a second later, away from the path of
 * an eviction.
 */
export class Recorder implements StepListener {
  readonly #queue: RecordingQueue;
  readonly #sampleEveryNs: bigint;
  readonly #vetoes = new WeakMap<Candidates, Map<string, Protection | undefined>>();
  #source: WorkloadSource | undefined;
  #config: RecordedConfig;
  #sampledAtNs: bigint | undefined;
  #closed = false;

  constructor(options: RecorderOptions) {
    this.#queue = new RecordingQueue(options);
    this.#sampleEveryNs = options.sampleEveryNs;
    this.#config = options.config;
  }

  /** Steps that no file has. */
  get lost(): number {
    return this.#queue.lost;
  }

  /** The source as the loop is to see it: what a veto answered is remembered. */
  watching(source: WorkloadSource): WorkloadSource {
    this.#source = source;
    return {
      candidates: () => this.#remembering(source.candidates()),
      refresh: () => {
        source.refresh();
      },
      problems: () => source.problems(),
      close: () => {
        source.close();
      },
    };
  }

  /** Another configuration is in force from the next step on. */
  reconfigured(config: RecordedConfig): void {
    this.#config = config;
  }

  stepped(report: StepReport): void {
    const { wake, input, observations, candidates, effects, policy, state } = report;
    const entry: RecordedStep = {
      kind: 'step',
      wake,
      input,
      observations,
      candidates: candidates.map((each) => this.#recorded(each)),
      decisions: effects.flatMap((effect) =>
        effect.kind === 'evict' ? [{ serial: effect.decision.serial, victim: effect.decision.victim.workload.id }] : [],
      ),
    };
    this.#queue.push({ entry, policy, config: this.#config, state });
    if (candidates.length > 0) this.#sampledAtNs = input.nowNs;
    else if (this.#wantsSample(report)) setImmediate(() => this.#sample(report));
  }

  close(): void {
    this.#closed = true;
    this.#queue.end();
  }

  /** Whether everything is in the file, after at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean> {
    return this.#queue.flush(timeoutMs);
  }

  /** Never beside an eviction, which other readings would delay. */
  #wantsSample({ wake, policy, state, input }: StepReport): boolean {
    if (this.#sampleEveryNs <= 0n || !policy.hasWorkloadSource || !isQuiet(state)) return false;
    if (wake.source !== 'tick' && wake.source !== 'start' && wake.source !== 'reload') return false;
    return this.#sampledAtNs === undefined || input.nowNs - this.#sampledAtNs + SLACK_NS >= this.#sampleEveryNs;
  }

  #sample({ policy, state, input }: StepReport): void {
    if (this.#closed || !this.#source) return;
    this.#sampledAtNs = input.nowNs;
    const entry = { kind: 'sample', ...this.#recorded(this.#source.candidates()) } as const;
    this.#queue.push({ entry, policy, config: this.#config, state });
  }

  #remembering(candidates: Candidates): Candidates {
    const { veto } = candidates;
    if (veto === undefined) return candidates;
    const vetoes = new Map<string, Protection | undefined>();
    const remembering = {
      ...candidates,
      veto: (workload: Workload) => {
        const protection = veto(workload);
        vetoes.set(workload.id, protection);
        return protection;
      },
    };
    this.#vetoes.set(remembering, vetoes);
    return remembering;
  }

  /** As it is now: other listeners may ask these candidates later, when the victim is dead. */
  #recorded(candidates: Candidates): RecordedCandidates {
    const { usages, unreadable, timeNs } = candidates;
    const vetoes = this.#vetoes.get(candidates);
    return { candidates: { usages, unreadable, timeNs }, vetoes: vetoes === undefined ? NO_VETOES : new Map(vetoes) };
  }
}

const NO_VETOES: Vetoes = new Map();

function isQuiet({ evictions, reclaiming }: State): boolean {
  return evictions.length === 0 && reclaiming === undefined;
}
