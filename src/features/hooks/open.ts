import type { Decision, Outcome } from '../../core/decide/eviction.js';
import { hookCommands, type HookCommand, type HookName, type HooksConfig, type HookSettings } from '../../core/hook/hook.js';
import { selectHost } from '../../host/select.js';
import type { Journal } from '../../journal/journal.js';
import type { Log } from '../../log/log.js';
import type { BeforeSignal } from '../../monitor/ports/before-signal.js';
import type { Metrics } from '../../monitor/ports/metrics.js';
import type { ProgramEnd, ProgramRunner, StepListener } from '../../monitor/ports/ports.js';
import { native } from '../../native/index.js';
import { postEvictEnvironment, preEvictEnvironment, type Environment } from './hook-environment.js';
import { hookRecord, type HookRun } from './hook-record.js';
import { callPrekill, prekillSockets, PREKILL_DIRECTORY } from './prekill-sockets.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';

/** Hooks that run at the same time, preEvict and postEvict together. */
const MAX_RUNNING = 8;
const MEMORY_MAX_BYTES = 256n << 20n;
/** The timeout of the check at the start and after a reload, which warns. */
const CHECKED_WITHIN_MS = 5_000;

export interface HookParts {
  readonly node: string;
  readonly dryRun: boolean;
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>;
  readonly journal: Pick<Journal, 'record'>;
  readonly metrics: Pick<Metrics, 'hookRan'>;
  /** Left out: this machine's. */
  readonly host?: HookHost;
}

export interface HookHost {
  readonly runner: ProgramRunner;
  readonly prekillDirectory: string;
}

/** Opens the hooks of a configuration, or undefined on a system without them. Warns of programs that it will not run. */
export function openHooks(config: HookSettings, parts: HookParts): Hooks | undefined {
  const { openProgramRunner } = selectHost();
  if (openProgramRunner === undefined) return undefined;
  const { host = { runner: openProgramRunner(native), prekillDirectory: PREKILL_DIRECTORY } } = parts;
  return new Hooks(config, { ...parts, host });
}

/** Runs the hooks of evictions. Nothing of it throws. */
export class Hooks implements BeforeSignal, StepListener {
  readonly #parts: HookParts & { readonly host: HookHost };
  #settings: HookSettings;
  #running = 0;

  constructor(settings: HookSettings, parts: HookParts & { readonly host: HookHost }) {
    this.#parts = parts;
    this.#settings = settings;
    void this.#warnOfPrograms();
  }

  configure(settings: HookSettings): void {
    this.#settings = settings;
    void this.#warnOfPrograms();
  }

  before(decision: Decision, go: () => void): boolean {
    const { preEvict, prekill } = this.#hooksOf(decision);
    if (preEvict === undefined && prekill === undefined) return false;
    const deadline = new Deadline(preEvict?.deadlineNs ?? prekill?.deadlineNs ?? 0n);
    const runs = [
      ...(preEvict ? [this.#run('preEvict', preEvict, decision, preEvictEnvironment(this.#parts.node, decision), deadline)] : []),
      ...(prekill ? [this.#callAll(decision, deadline)] : []),
    ];
    void Promise.race([Promise.allSettled(runs), deadline.passed]).finally(() => {
      deadline.end();
      go();
    });
    return true;
  }

  stepped({ effects }: Parameters<StepListener['stepped']>[0]): void {
    for (const effect of effects) {
      if (effect.kind === 'evict' && effect.decision.dryRun) void this.#wouldRun(effect.decision);
      else if (effect.kind === 'outcome') this.#after(effect.outcome);
    }
  }

  /** A policy's own hooks come in place of those of all evictions. */
  #hooksOf({ cause }: Decision): HooksConfig {
    const { hooks, policies } = this.#settings;
    const own = cause.kind === 'policy' ? policies.find(({ name }) => name === cause.policy)?.hooks : undefined;
    return { ...hooks, ...own };
  }

  close(): void {
    this.#parts.host.runner.close();
  }

  #after(outcome: Outcome): void {
    const { postEvict } = this.#hooksOf(outcome.decision);
    if (postEvict === undefined) return;
    // After everything else of the pass.
    setImmediate(() => {
      void this.#run('postEvict', postEvict, outcome.decision, postEvictEnvironment(this.#parts.node, outcome));
    });
  }

  async #run(
    hook: HookName,
    { argv, timeoutNs }: HookCommand,
    decision: Decision,
    environment: Environment,
    deadline?: Deadline,
  ): Promise<void> {
    const run = { hook, target: argv.join(' '), decision };
    if (this.#running >= MAX_RUNNING) {
      this.#report({ ...run, result: 'refused', error: `${String(MAX_RUNNING)} hooks are running` });
      return;
    }
    this.#running += 1;
    const command = { purpose: 'hook', name: hook, argv, environment, timeoutNs, memoryMaxBytes: MEMORY_MAX_BYTES } as const;
    await this.#follow(run, this.#parts.host.runner.run(command), deadline);
    this.#running -= 1;
  }

  async #callAll(decision: Decision, deadline: Deadline): Promise<void> {
    const sockets = await prekillSockets(this.#parts.host.prekillDirectory);
    if (deadline.signal.aborted) for (const target of sockets) this.#report({ hook: 'prekill', target, decision, result: 'late' });
    else await Promise.all(sockets.map((path) => this.#call(path, decision, deadline)));
  }

  #call(path: string, decision: Decision, deadline: Deadline): Promise<void> {
    const end = callPrekill(path, decision.victim.workload.path, deadline.signal).then((error): ProgramEnd => {
      return error === undefined ? { result: 'succeeded' } : { result: 'failed', error };
    });
    return this.#follow({ hook: 'prekill', target: path, decision }, end, deadline);
  }

  async #follow(run: Omit<HookRun, 'result'>, end: Promise<ProgramEnd>, deadline?: Deadline): Promise<void> {
    const beganNs = process.hrtime.bigint();
    let isReported = false;
    const report = (how: Pick<HookRun, 'result' | 'error'>): void => {
      if (isReported) return;
      isReported = true;
      this.#report({ ...run, ...how, ...(how.result !== 'refused' && { tookNs: process.hrtime.bigint() - beganNs }) });
    };
    void deadline?.passed.then(() => {
      report({ result: 'late' });
    });
    report(await end.catch((error: unknown) => ({ result: 'failed', error: String(error) }) as const));
  }

  async #wouldRun(decision: Decision): Promise<void> {
    const { preEvict, postEvict, prekill } = this.#hooksOf(decision);
    const sockets = prekill === undefined ? [] : await prekillSockets(this.#parts.host.prekillDirectory);
    const targets: readonly (readonly [HookName, string])[] = [
      ...(preEvict ? [['preEvict', preEvict.argv.join(' ')] as const] : []),
      ...sockets.map((path) => ['prekill', path] as const),
      ...(postEvict ? [['postEvict', postEvict.argv.join(' ')] as const] : []),
    ];
    for (const [hook, target] of targets) this.#report({ hook, target, decision, result: 'would-run' });
  }

  #report(run: HookRun): void {
    const { log, journal, metrics } = this.#parts;
    const record = hookRecord(run);
    journal.record(record);
    if (run.result !== 'would-run') metrics.hookRan(run.hook, run.result);
    const isFine = run.result === 'succeeded';
    log[isFine ? 'debug' : run.result === 'would-run' ? 'info' : 'warn'](record.message, {
      decision: run.decision.serial,
      ...(!isFine && run.result !== 'would-run' && { code: 'EVICTD_HOOK' }),
    });
  }

  async #warnOfPrograms(): Promise<void> {
    const settings = this.#settings;
    if (settings.hooks.prekill !== undefined) void prekillSockets(this.#parts.host.prekillDirectory); // the next look is one call
    for (const { key, argv } of hookCommands(settings)) {
      const problem = await this.#parts.host.runner.problemOf(argv[0] ?? '', CHECKED_WITHIN_MS);
      if (problem === undefined) continue;
      this.#parts.log.warn(`${key} is skipped, and evictions go on without it: ${problem}`, { code: 'EVICTD_HOOK' });
    }
  }
}

/** The time until which a signal waits. */
class Deadline {
  readonly passed: Promise<void>;
  readonly #ends = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ns: bigint) {
    this.passed = new Promise((resolve) => {
      this.#timer = setTimeout(resolve, Number(ns / NS_PER_MS));
    });
  }

  /** Aborted when the wait is over. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#ends.abort();
  }
}
