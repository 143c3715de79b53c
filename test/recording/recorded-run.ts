import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { VictimReading } from '../../src/core/decide/eviction.js';
import { initialState, type Policy, type State } from '../../src/core/decide/state.js';
import { step } from '../../src/core/decide/step.js';
import type { PolicyReadings } from '../../src/core/policy/scope-reading.js';
import type { Workload } from '../../src/core/workload/workload.js';
import { answersOf } from '../../src/monitor/step-answers.js';
import type { StepReport, WorkloadSource } from '../../src/monitor/ports/ports.js';
import { Recorder, type RecorderOptions } from '../../src/recording/recorder.js';
import { candidates, Gi, observations, SECOND } from '../core/support.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

export const NODE = { name: '/node', cgroup: '/node', cgroupVersion: 2 } as const;

/** A directory of the test. */
export function scratch(): string {
  const directory = temporaryDirectory();
  return directory;
}

export interface Recorded {
  readonly recorder: Recorder;
  readonly path: string;
  readonly errors: Error[];
  readonly lost: () => number;
}

export function recorder(path = join(scratch(), 'rec.gz'), options: Partial<RecorderOptions> = {}): Recorded {
  const errors: Error[] = [];
  let lost = 0;
  const made = new Recorder({
    path,
    limits: { maxBytes: 1 << 26, maxAgeMs: 86_400_000 },
    sampleEveryNs: 10n * SECOND,
    version: '0.0.0-test',
    node: NODE,
    dryRun: false,
    config: { settings: {}, workloads: [{ cgroup: '/node' }], rules: [] },
    onError: (error) => errors.push(error),
    onLost: () => (lost += 1),
    ...options,
  });
  return { recorder: made, path, errors, lost: () => lost };
}

/** What every workload uses at a second. A workload without an entry does not exist then. */
export type Usages = (second: number) => readonly [Workload, bigint][];

const STAYING: VictimReading = {
  processes: undefined,
  usageBytes: undefined,
  removed: false,
  vanished: false,
  error: undefined,
  signalledAtNs: undefined,
};

export interface Dying {
  /** Why every victim survives; undefined: victims end. */
  readonly killError?: string | undefined;
  /** For how long a victim still uses its memory; undefined: nothing from the next step on. */
  readonly lingersSeconds?: number | undefined;
  /**
   * At these seconds a process ends between the reading of the node and the last look, which finds so much available.
   */
  readonly rechecks?: ReadonlyMap<number, bigint>;
  /** What policies read at a second. */
  readonly policyReadings?: ((second: number) => PolicyReadings) | undefined;
}

/** A node of 1Gi where only the workloads use memory. A step every ten seconds. */
export class SimulatedRun {
  readonly reports: StepReport[] = [];
  #policy: Policy;
  readonly #usages: Usages;
  readonly #source: WorkloadSource;
  readonly #recorder: Recorder;
  readonly #killError: string | undefined;
  readonly #lingersSeconds: number;
  readonly #rechecks: ReadonlyMap<number, bigint>;
  readonly #policyReadings: Dying['policyReadings'];
  readonly #evicted = new Map<number, { readonly id: string; readonly second: number }>();
  #second = 0;
  #state: State = initialState;

  constructor(
    { recorder: it }: Recorded,
    policy: Policy,
    usages: Usages,
    { killError, lingersSeconds = 0, rechecks = new Map(), policyReadings }: Dying = {},
  ) {
    this.#rechecks = rechecks;
    this.#policyReadings = policyReadings;
    this.#killError = killError;
    this.#lingersSeconds = lingersSeconds;
    this.#policy = policy;
    this.#usages = usages;
    this.#recorder = it;
    this.#source = it.watching({
      candidates: () => ({ ...candidates(...this.#now()), timeNs: BigInt(this.#second) * SECOND, veto: () => undefined }),
      refresh: () => undefined,
      holding: () => undefined,
      problems: () => [],
      close: () => undefined,
    });
  }

  /** In force from the next step on. */
  reconfigure(policy: Policy): void {
    this.#policy = policy;
  }

  async until(second: number): Promise<this> {
    for (; this.#second <= second; this.#second += 10) {
      this.#step();
      await turn();
    }
    return this;
  }

  async end(): Promise<void> {
    this.#recorder.close();
    await this.#recorder.flush(5_000);
  }

  #now(): [Workload, bigint][] {
    const gone = new Set([...this.#evicted.values()].filter((victim) => this.#isGone(victim)).map(({ id }) => id));
    return this.#usages(this.#second).map(([workload, bytes]) => [workload, gone.has(workload.id) ? 0n : bytes]);
  }

  #isGone({ second }: { readonly second: number }): boolean {
    return this.#second > second + this.#lingersSeconds;
  }

  #readingOf(serial: number): VictimReading {
    if (this.#killError !== undefined) return { ...STAYING, error: this.#killError };
    const victim = this.#evicted.get(serial);
    if (victim === undefined) throw new Error(`there is no eviction ${String(serial)}`);
    const signalledAtNs = BigInt(victim.second + 1) * SECOND;
    if (this.#isGone(victim)) return { ...STAYING, processes: 0, usageBytes: 0n, signalledAtNs };
    const [, usageBytes = 0n] = this.#now().find(([{ id }]) => id === victim.id) ?? [];
    return { ...STAYING, processes: 1, usageBytes, signalledAtNs };
  }

  #step(): void {
    const nowNs = BigInt(this.#second) * SECOND;
    const used = this.#now().reduce((sum, [, bytes]) => sum + bytes, 0n);
    const observed = observations(nowNs, { 'memory.available': Gi - used });
    const atLast = this.#rechecks.get(this.#second);
    const seenAtLast = atLast === undefined ? observed : observations(nowNs, { 'memory.available': atLast });
    const read = this.#policyReadings;
    const policies = read && { read: () => read(this.#second), workloads: () => [], processes: () => [] };
    const { answers, given } = answersOf({ read: () => seenAtLast }, () => this.#source.candidates(), undefined, policies);
    const input = {
      nowNs,
      layout: 'single' as const,
      victims: new Map(this.#state.evictions.map(({ decision: { serial } }) => [serial, this.#readingOf(serial)])),
      reclaimed: undefined,
    };
    const { state, effects } = step(this.#policy, this.#state, {
      ...input,
      observe: () => observed,
      ...answers,
    });
    this.#state = state;
    for (const effect of effects) {
      const dies = effect.kind === 'evict' && !effect.decision.dryRun && this.#killError === undefined;
      if (dies) this.#evicted.set(effect.decision.serial, { id: effect.decision.victim.workload.id, second: this.#second });
    }
    const wake = { source: this.#second === 0 ? 'start' : 'tick', atNs: nowNs } as const;
    const report: StepReport = { wake, policy: this.#policy, input, observations: observed, ...given, state, effects };
    this.reports.push(report);
    this.#recorder.stepped(report);
  }
}
