import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyEffect, PolicyResult } from '../../core/policy/policy-action.js';
import type { PolicyReadings, ScopeReading } from '../../core/policy/scope-reading.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { Workload } from '../../core/workload/workload.js';
import { selectHost } from '../../host/select.js';
import type { Log } from '../../log/log.js';
import type { PolicyPort } from '../../monitor/ports/policy-port.js';
import type { ProgramRunner, StepListener, StepReport } from '../../monitor/ports/ports.js';
import { liftAbandoned } from './restraint/abandoned-restraints.js';
import { RestraintFile, restraintFilePath } from './restraint/restraint-file.js';
import { Restraints } from './restraint/restraints.js';
import * as deferred from './running-policies.js';
import type { PolicySettings, RunningParts, RunningPolicies } from './running-policies.js';

export interface PoliciesParts extends Pick<RunningParts, 'hierarchies' | 'node' | 'units'> {
  readonly runtimeDirectory: string;
  /** Distinguishes the files of this node in the runtime directory. */
  readonly instance: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Passes follow each other within milliseconds while a victim ends. */
const FRESH_NS = 250_000_000n;

/** A filesystem may hang. */
const CHECKED_WITHIN_MS = 5_000;

/** What policies read and do, besides evictions. Where none is configured it costs nothing. */
export class Policies implements PolicyPort, StepListener {
  /** An action has ended, and its result is for the next step. */
  onResult: () => void = () => undefined;
  /** The pressure of the node has risen. */
  onPressure: () => void = () => undefined;
  readonly #restraints: Restraints;
  #configured: PolicySettings = { policies: [], rules: [] };
  /** undefined: no policy is configured. */
  #running: RunningPolicies | undefined;
  #runner: ProgramRunner | undefined;
  #last: { readonly atNs: bigint; readonly readings: PolicyReadings } | undefined;
  #results: PolicyResult[] = [];
  #isAnnounced = false;
  #problems: ReadonlySet<string> = new Set();
  /** What was said of programs. */
  #refusals: ReadonlySet<string> = new Set();

  /** Gives back what evictds before have left, also in a dry run. */
  constructor(private readonly parts: PoliciesParts) {
    const { runtimeDirectory, instance, log } = parts;
    const lock = join(runtimeDirectory, `${instance}.lock`);
    const file = new RestraintFile(restraintFilePath(lock), selectHost().readBootId(), lock);
    this.#restraints = new Restraints(file, log);
    if (existsSync(file.path)) this.#restraints.takeOver();
    liftAbandoned(log, { own: lock });
  }

  /** Puts these policies in force, and lifts restraints of policies that are gone. */
  configure({ policies, rules }: PolicySettings): void {
    const { policies: before, rules: rulesBefore } = this.#configured;
    if (policies === before && rules === rulesBefore) return;
    this.#configured = { policies, rules };
    this.#restraints.keepOnly(new Set(policies.map(({ name }) => name)));
    this.#stop();
    if (policies.length === 0) return;
    this.#runner ??= deferred.openRunner();
    const { hierarchies, node, units } = this.parts;
    const onPressure = (): void => {
      this.onPressure();
    };
    const parts = { hierarchies, node, units, restraints: this.#restraints, runner: this.#runner, onPressure };
    this.#running = new deferred.RunningPolicies(parts, { policies, rules });
    void this.#warnOfPrograms(this.#runner);
  }

  get bytesPerSecond(): number {
    return this.#running?.bytesPerSecond ?? Infinity;
  }

  get watchedPressure(): ReadonlySet<string> {
    return this.#running?.watchedPressure ?? new Set();
  }

  read(how?: 'anew'): PolicyReadings | undefined {
    const nowNs = process.hrtime.bigint();
    if (this.#running === undefined) return undefined;
    const isFresh = how === undefined && this.#last !== undefined && nowNs - this.#last.atNs < FRESH_NS;
    const last = isFresh ? this.#last : { atNs: nowNs, readings: this.#running.read() };
    this.#last = last;
    return last?.readings;
  }

  workloads(paths: readonly string[]): readonly ScopeReading[] {
    return this.#running?.workloads(paths) ?? [];
  }

  processes(workloads: readonly Workload[]): readonly WorkloadProcess[] {
    return this.#running?.processes(workloads) ?? [];
  }

  perform(effect: PolicyEffect): void {
    this.#running?.perform(effect, (result) => {
      this.#results.push(result);
      if (this.#isAnnounced) return;
      this.#isAnnounced = true;
      queueMicrotask(this.onResult); // a step may be performing its effects now
    });
  }

  results(): readonly PolicyResult[] {
    const results = this.#results;
    this.#results = [];
    this.#isAnnounced = false;
    return results;
  }

  stepped({ wake: { source } }: Pick<StepReport, 'wake'>): void {
    if (source === 'tick' || source === 'start' || source === 'reload') {
      this.#restraints.retry();
      this.#running?.retry();
    }
    if (this.#running === undefined) return;
    const problems = this.#running.problems();
    for (const { code, message, hint } of problems) {
      if (!this.#problems.has(message)) this.parts.log.warn(message, { code, ...(hint !== undefined && { hint }) });
    }
    this.#problems = new Set(problems.map(({ message }) => message));
  }

  skipped(): boolean {
    this.#restraints.retry();
    this.#running?.retry();
    return true;
  }

  close(): void {
    this.#stop();
    this.#runner?.close();
    this.#restraints.close();
  }

  /** Each once: settings of units may change the policies at any time. */
  async #warnOfPrograms(runner: ProgramRunner): Promise<void> {
    const runs = this.#configured.policies.flatMap(({ name, then: steps }) =>
      steps.flatMap((step) => (step.kind === 'run' ? [{ name, program: step.command[0] ?? '' }] : [])),
    );
    const found = runs.map(async ({ name, program }) => {
      const problem = await runner.problemOf(program, CHECKED_WITHIN_MS);
      return problem === undefined ? [] : [`the step run of policy ${name} will fail: ${problem}`];
    });
    const refusals = (await Promise.all(found)).flat();
    for (const refusal of refusals) if (!this.#refusals.has(refusal)) this.parts.log.warn(refusal, { code: 'EVICTD_POLICY_PROGRAM' });
    this.#refusals = new Set(refusals);
  }

  #stop(): void {
    this.#running?.close();
    this.#running = this.#last = undefined;
    this.#problems = new Set();
  }
}
