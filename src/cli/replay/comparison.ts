import { policyOf } from '../../compose/policy.js';
import { unrecordedSources, workloadsUnder } from '../../compose/recorded-workloads.js';
import type { Config } from '../../config/config.js';
import type { Decision } from '../../core/eviction.js';
import type { Policy, State } from '../../core/state.js';
import type { RecordedCandidates, RecordedConfig, RecordedStep, RecordingHeader } from '../../monitor/recording/format.js';
import { assumptions } from './assumptions.js';
import { differences, madeIn, type Made } from './difference.js';
import { OtherRun } from './other-run.js';
import type { OtherReport } from './report.js';
import { Told } from './told.js';

/** Another configuration over the same recording. */
export class Comparison {
  readonly #config: Config;
  readonly #header: RecordingHeader;
  readonly #recordedPolicy: Policy;
  readonly #told = new Told();
  readonly #run: OtherRun;
  #recorded: RecordedConfig;
  #reconsider: ReturnType<typeof workloadsUnder>;

  /** @param recordedPolicy  the first of the recording */
  constructor(config: Config, header: RecordingHeader, recordedPolicy: Policy) {
    this.#config = config;
    this.#header = header;
    this.#recordedPolicy = recordedPolicy;
    this.#recorded = header.config;
    this.#reconsider = workloadsUnder(config, header.config, header.node);
    const policy = policyOf(config, header.dryRun);
    const { monitoringIntervalNs } = recordedPolicy;
    // Steps are as far apart as they were: a shorter interval would take each of them for a gap.
    const interval = policy.monitoringIntervalNs < monitoringIntervalNs ? { monitoringIntervalNs } : {};
    this.#run = new OtherRun({ ...policy, ...interval }, (usages) => this.#reconsider(usages));
  }

  reconfigure(recorded: RecordedConfig): void {
    this.#recorded = recorded;
    this.#reconsider = workloadsUnder(this.#config, recorded, this.#header.node);
  }

  resume(state: State): void {
    this.#run.resume(state);
  }

  step(entry: RecordedStep, decided: readonly Decision[], after: RecordedCandidates | undefined, time: string): void {
    this.#told.add(entry, this.#run.step(entry, decided, after), time);
  }

  report(recorded: readonly Made[], timeOf: (atNs: bigint) => string): OtherReport {
    const found = differences(recorded, this.#told.decisions);
    return {
      differences: found.map((difference) => ({ ...difference, time: timeOf(madeIn(difference).atNs) })),
      records: this.#told.records,
      assumptions: assumptions({
        config: this.#config,
        recorded: this.#recorded,
        recordedPolicy: this.#recordedPolicy,
        unrecordedSources: unrecordedSources(this.#config, this.#recorded),
        run: this.#run,
        differences: found,
        dryRun: this.#header.dryRun,
      }),
    };
  }
}
