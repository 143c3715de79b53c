import { withHoldings, withProcesses } from '../core/rank/candidate-usages.js';
import type { State } from '../core/decide/state.js';
import { victimId } from '../core/workload/process.js';
import type { Candidates, Protection, Workload, WorkloadUsage } from '../core/workload/workload.js';
import type { StepListener, StepReport, WorkloadSource } from '../monitor/ports/ports.js';
import { RecordingQueue, type RecordingQueueOptions } from './recording-queue.js';
import type { RecordedCandidates, RecordedConfig, RecordedStep } from './recording-format.js';

/** The answers about candidates, by workload id. */
interface Questions {
  readonly vetoes: Map<string, Protection | undefined>;
  readonly awaited: Set<string>;
  /** undefined: processes were not counted. */
  processes: ReadonlyMap<string, bigint> | undefined;
  /** undefined: managed workloads were not asked for. */
  managed: readonly WorkloadUsage[] | undefined;
}

/** Ticks may come early or late. */
const SLACK_NS = 100_000_000n;

export interface RecorderOptions extends RecordingQueueOptions {
  readonly config: RecordedConfig;
  /** How often all workloads are read though no eviction is due; 0: never. At most once per tick. */
  readonly sampleEveryNs: bigint;
}

/**
 * Records the input of every step (docs/replay.md). It keeps references and returns; they are written about a second
 * later, away from the path of an eviction.
 */
export class Recorder implements StepListener {
  readonly #queue: RecordingQueue;
  readonly #sampleEveryNs: bigint;
  readonly #questions = new WeakMap<Candidates, Questions>();
  #source: WorkloadSource | undefined;
  #config: RecordedConfig;
  #sampledAtNs: bigint | undefined;
  #closed = false;

  constructor(options: RecorderOptions) {
    this.#queue = new RecordingQueue(options);
    this.#sampleEveryNs = options.sampleEveryNs;
    this.#config = options.config;
  }

  /** Steps that are in no file. */
  get lost(): number {
    return this.#queue.lost;
  }

  /** The source for the loop: it remembers the answers of vetoes. */
  watching(source: WorkloadSource): WorkloadSource {
    this.#source = source;
    return {
      candidates: (reading) => this.#remembering(source.candidates(reading)),
      refresh: () => {
        source.refresh();
      },
      version: () => source.version?.(),
      holding: (cgroup) => source.holding(cgroup),
      problems: () => source.problems(),
      close: () => {
        source.close();
      },
    };
  }

  reconfigured(config: RecordedConfig): void {
    this.#config = config;
  }

  stepped(report: StepReport): void {
    const { wake, input, observations, candidates, rechecks, outside, effects, policy, state } = report;
    const { policyReadings, policyRecheck, policyWorkloads, policyProcesses } = report;
    const entry: RecordedStep = {
      kind: 'step',
      wallMs: Math.round(Date.now() - Number(process.hrtime.bigint() - input.nowNs) / 1e6),
      wake,
      input,
      observations,
      candidates: candidates.map((each) => this.#recorded(each)),
      rechecks,
      outside,
      ...(policyReadings && { policyReadings }),
      ...(policyRecheck && { policyRecheck }),
      ...(policyWorkloads && { policyWorkloads }),
      ...(policyProcesses && { policyProcesses }),
      decisions: effects.flatMap((effect) =>
        effect.kind === 'evict' ? [{ serial: effect.decision.serial, victim: victimId(effect.decision.victim) }] : [],
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

  /** Returns whether everything is in the file, after at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean> {
    return this.#queue.flush(timeoutMs);
  }

  /** Whether to sample: not during an eviction, which further readings would delay. */
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
    const { veto, awaited, processes, managed } = candidates;
    if (veto === undefined && awaited === undefined && processes === undefined) return candidates;
    const questions: Questions = { vetoes: new Map(), awaited: new Set(), processes: undefined, managed: undefined };
    const remembering: Candidates = {
      ...candidates,
      veto: (workload: Workload) => {
        const protection = veto?.(workload);
        questions.vetoes.set(workload.id, protection);
        return protection;
      },
      awaited: (...asking: Parameters<NonNullable<typeof awaited>>) => {
        const [workload] = asking;
        const isAwaited = awaited?.(...asking) ?? false;
        if (isAwaited) questions.awaited.add(workload.id);
        return isAwaited;
      },
      ...(processes && { processes: () => (questions.processes = processes()) }),
      ...(managed && { managed: () => (questions.managed = managed()) }),
    };
    this.#questions.set(remembering, questions);
    return remembering;
  }

  /** A copy of the answers: other listeners may ask these candidates later, when the victim is dead. */
  #recorded(candidates: Candidates): RecordedCandidates {
    const { usages, unreadable, timeNs, holdings } = candidates;
    const { vetoes, awaited, processes, managed } = this.#questions.get(candidates) ?? NOT_ASKED;
    return {
      candidates: { usages: withHoldings(withProcesses(usages, processes), holdings), unreadable, timeNs },
      ...(managed && { managed }),
      vetoes: new Map(vetoes),
      awaited: [...awaited],
    };
  }
}

const NOT_ASKED: Readonly<Questions> = { vetoes: new Map(), awaited: new Set(), processes: undefined, managed: undefined };

function isQuiet({ evictions, reclaiming }: State): boolean {
  return evictions.length === 0 && reclaiming === undefined;
}
