import { policyOf } from '../../node/configuration-in-force.js';
import { unrecordedSources, workloadsUnder } from './recorded-workloads.js';
import type { Config } from '../../config/config.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import type { Decision } from '../../core/decide/eviction.js';
import type { Policy, State } from '../../core/decide/state.js';
import { conditionOf } from '../../core/ladder/scope-turns.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import type { RecordedCandidates, RecordedConfig, RecordedStep, RecordingHeader } from '../../recording/recording-format.js';
import { assumptions, differences, shownDecision, type TimedDecision, type OtherReport } from './replay-report.js';
import type { OtherConfig } from './other-config.js';
import { OtherRun } from './other-run.js';
import { ReplayedRecords } from './replayed-journal.js';
import { selectsPods } from '../../workloads/kinds/source-spec.js';

/** Replays a recording with another configuration. */
export class Comparison {
  readonly #other: OtherConfig;
  readonly #header: RecordingHeader;
  readonly #recordedPolicy: Policy;
  #inForce: Policy;
  /** The earliest time of each decision whose time is not exact. */
  readonly #earliest = new Map<number, bigint>();
  readonly #replayed = new ReplayedRecords();
  readonly #run: OtherRun;
  readonly #warnings = new Set<string>();
  #recorded: RecordedConfig;
  #config: Config;
  #shuttingDown: boolean;

  /** @param recordedPolicy  the first of the recording */
  constructor(other: OtherConfig, header: RecordingHeader, recordedPolicy: Policy) {
    this.#other = other;
    this.#header = header;
    this.#recordedPolicy = recordedPolicy;
    this.#inForce = recordedPolicy;
    this.#shuttingDown = recordedPolicy.shuttingDown === true;
    this.#recorded = header.config;
    this.#config = other(header.config).config;
    this.#run = new OtherRun(this.#policy(), workloadsUnder(this.#config, header.config, header.node));
    this.#warn();
  }

  reconfigure(recorded: RecordedConfig): void {
    this.#recorded = recorded;
    this.#config = this.#other(recorded).config;
    this.#reconfigureRun();
    this.#warn();
  }

  /** Follows the recorded policy: a shutdown does not depend on the configuration. */
  follow(policy: Policy): void {
    this.#inForce = policy;
    const shuttingDown = policy.shuttingDown === true;
    if (shuttingDown === this.#shuttingDown) return;
    this.#shuttingDown = shuttingDown;
    this.#reconfigureRun();
  }

  resume(state: State): void {
    this.#run.resume(state);
  }

  step(entry: RecordedStep, decided: readonly Decision[], after: RecordedCandidates | undefined, time: string): void {
    const before = this.#replayed.decisions.at(-1)?.atNs;
    for (const decision of this.#replayed.add(entry, this.#run.step(entry, decided, after), time)) {
      const crossed = this.#run.gaps.earliest(decision, this.#inForce);
      if (crossed === undefined) continue;
      // After another eviction the threshold was met all the time.
      const earliest = before !== undefined && before > crossed ? before : crossed;
      if (earliest < entry.input.nowNs) this.#earliest.set(decision.serial, earliest);
    }
  }

  report(recorded: readonly TimedDecision[], timeOf: (atNs: bigint) => string): OtherReport {
    const found = differences(recorded, this.#replayed.decisions);
    return {
      differences: found.map((difference) => {
        const { decision, atNs } = shownDecision(difference);
        const earliest = difference.kind === 'missing' ? undefined : this.#earliest.get(decision.serial);
        return { ...difference, time: timeOf(atNs), ...(earliest !== undefined && { notBefore: timeOf(earliest) }) };
      }),
      readings: this.#run.gaps.report(),
      records: this.#replayed.records,
      warnings: [...this.#warnings],
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

  #reconfigureRun(): void {
    this.#run.reconfigure(this.#policy(), workloadsUnder(this.#config, this.#recorded, this.#header.node));
  }

  #policy(): Policy {
    // No reclaim: what it would free is unknown.
    const policy: Policy = { ...policyOf(this.#config, this.#header.dryRun, this.#shuttingDown), collections: new Set(), reclaimSteps: [] };
    const { monitoringIntervalNs } = this.#recordedPolicy;
    // Steps keep their recorded distance: with a shorter interval each would be a gap.
    return policy.monitoringIntervalNs < monitoringIntervalNs ? { ...policy, monitoringIntervalNs } : policy;
  }

  #warn(): void {
    const { workloads, node, reclaim } = this.#config;
    if (reclaim.length > 0 || selectsPods(workloads)) {
      this.#warnings.add('its node-level reclaim counts as freeing nothing: the real amount is unknown');
    }
    const known = new Set(this.#inForce.policies?.map(whatItReads));
    for (const policy of this.#policy().policies ?? []) {
      if (known.has(whatItReads(policy))) continue;
      const missing = 'is not in the recorded configuration with this scope and condition';
      this.#warnings.add(`policy ${policy.name} ${missing}: only values that the recorded policies read are known`);
    }
    const recorded = this.#header.node.cgroup;
    if (workloads.length === 0) this.#warnings.add('it has no workloads, so it evicts nothing');
    if (cgroupText(node.cgroup) === cgroupText(recorded)) return;
    this.#warnings.add(`its node is ${cgroupText(node.cgroup)}, but the recorded values are those of ${cgroupText(recorded)}`);
  }
}

/** Readings are recorded by the name of a policy. */
function whatItReads(policy: ConfiguredPolicy): string {
  return JSON.stringify([policy.name, policy.scope?.cgroup, conditionOf(policy)]);
}

function cgroupText(cgroup: string | undefined): string {
  return cgroup === undefined ? 'the machine' : normalCgroupPath(cgroup);
}
