// A running evictd is opened in phases: lock → publish → observe → act → serve → start. Each is a function of what the phases
// before have opened; where a later phase has to react to an earlier one, it subscribes (`disks.onChange`).
// To add a feature: one `open` in its phase (src/compose/phases/), with `closers.add` if it holds a resource. The phase
// names it in `listeners` if it follows the steps, and in `reload` if it takes a new configuration. What it knows of
// candidates is one more CandidateDecorator in the list of observe.ts.

import { resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { LoadedConfig } from '../config/config.js';
import { selectHost } from '../host/select.js';
import type { Request } from '../host/requests.js';
import type { Log } from '../log/log.js';
import { reloadRecord, reloadRefusedRecord, startRecord, unfinishedRecord } from '../journal/records/record.js';
import { answerPath, writeAnswer, type RequestAnswer } from '../state/request-answer.js';
import type { Service } from '../features/service/service-notifications.js';
import { native } from '../native/index.js';
import * as deferred from '../features/request/pause-answer.js';
import { announceReload, announceStart } from './announcement.js';
import { Closers } from './closers.js';
import { releaseStartMemory } from './start-memory.js';
import type { Configure } from '../node/configuration-in-force.js';
import { readStartFacts } from '../node/machine-facts.js';
import { CLOSE_MS, endOrderly } from './shutdown-order.js';
import { act, type Acting } from './phases/act.js';
import { lock, type GuardOptions, type Locked } from './phases/lock.js';
import { observe, type Observed } from './phases/observe.js';
import { publish, type Published } from './phases/publish.js';
import { serve, type Served } from './phases/serve.js';

/** Ends the process without waiting for threads that hang in a dead filesystem. */
export function exitNow(code: number): never {
  return native.exitNow(code);
}

/** A running evictd. */
export interface Guard {
  readonly log: Log;
  /** The connection to the service manager. */
  readonly service: Service;
  /**
   * Puts another configuration in force. Keys that need a restart keep their values, with a warning. Returns the
   * warnings of the log, one a line.
   */
  reload(loaded: LoadedConfig): readonly string[];
  /** A new configuration has errors: the one before stays in force. `errors`: as in the log, one a line. */
  reloadRefused(errors: readonly string[]): void;
  /** Evicts again after a pause, and answers `evictd resume`. */
  resume(): void;
  /** Writes the result for the command that has made the request. */
  answer(request: Request, answer: Omit<RequestAnswer, 'pid'>): void;
  /**
   * Resolves within 18 s: 8 s for systemd, 5 s for journal and recording, 5 s for the log. A thread may still hang in
   * the state directory: end with exitNow.
   */
  stop(): Promise<void>;
}

interface Opened {
  readonly locked: Locked;
  readonly published: Published;
  readonly observed: Observed;
  readonly acting: Acting;
  readonly served: Served;
}

/**
 * Opens and starts everything. Throws UnavailableError if the node does not exist or another evictd guards it;
 * everything is closed again then.
 */
export function startGuard(loaded: LoadedConfig, options: GuardOptions): Guard {
  const closers = new Closers();
  try {
    const locked = lock(loaded, options, closers);
    const published = publish(locked);
    const observed = observe(locked, published);
    const acting = act(locked, published, observed);
    const opened: Opened = { locked, published, observed, acting, served: serve(locked, published, observed, acting) };
    start(opened);
    return guardOf(opened);
  } catch (error) {
    closers.close();
    throw error;
  }
}

function start({ locked, published, observed, acting: { monitor, shutdown }, served }: Opened): void {
  const { options, node, inForce, log, safeMode } = locked;
  const { dryRun } = options;
  const { journal, saved, service } = published;
  const host = selectHost();
  const started = startRecord({
    ...saved.restored,
    version: manifest.version,
    dryRun,
    recovered: journal.recovered,
    crashes: safeMode?.crashes ?? 0,
    recording: options.recording && resolve(options.recording.path),
  });
  journal.record({ ...started, bootId: host.readBootId(), ...observed.kernelKills.counted });
  saved.settle();
  void reportLost(locked, published);
  const canSignalOthers = host.canSignalOthers(native);
  announceStart(log, inForce.loaded, { node: node.identity, dryRun, canSignalOthers, machine: readStartFacts(node) });
  safeMode?.announce();
  inForce.isPaused = (path) => path !== '' && monitor.remaining.pauses.has(path);
  service.resumed(saved.restored.state.conditions);
  observed.kernelKills.start();
  releaseStartMemory(locked);
  monitor.start(); // rehearses an eviction: what it needs is in memory again
  void reportUnnamed(locked, published, observed);
  served.metrics?.start();
  served.control?.start();
  process.nextTick(service.ready.bind(service)); // after the metrics server has bound its address
  shutdown.configure(inForce.config);
}

/** The evictions that were in flight when the machine went down. The state directory may hang, and no start waits for it. */
async function reportLost(
  { options: { dryRun }, node: { identity }, inForce, turns, log }: Locked,
  { journal, saved }: Published,
): Promise<void> {
  const bootId = selectHost().readBootId();
  if (dryRun || bootId === '' || saved.isOfThisBoot) return;
  const { lostEvictions } = await import('../journal/reading/lost-evictions.js');
  const lost = await turns.take(() => lostEvictions(inForce.config.stateDirectory, identity.name, bootId)).catch(() => []);
  for (const decision of lost) {
    const record = unfinishedRecord(decision, 'another boot');
    journal.record(record);
    log.warn(record.message);
  }
}

/** Containers without a name are reported when the first names have been looked up, not at the next tick. */
async function reportUnnamed({ node, closers }: Locked, { reporter }: Published, { containerNames, workloads }: Observed): Promise<void> {
  const over = new AbortController();
  closers.add({
    close: () => {
      over.abort();
    },
  });
  await containerNames.settled();
  if (!over.signal.aborted) reporter.sources(node.notifiers(), workloads.problems());
}

function guardOf({ locked, published, observed, acting, served }: Opened): Guard {
  const { node, inForce, instance, log, closers } = locked;
  const { status, reporter, journal, saved, recorder, service } = published;
  const { runtimeDirectory } = inForce.started;
  /** Whether evictd has begun to stop. */
  let stopped = false;
  const answer: Guard['answer'] = (request, given) => {
    try {
      writeAnswer(answerPath(runtimeDirectory, instance, request), { pid: process.pid, ...given });
    } catch (error) {
      log.warn(`cannot answer evictd ${request}: ${String(error)}`, { code: 'EVICTD_RELOAD_ANSWER' });
    }
  };
  return {
    log,
    service,
    reload: (next) => {
      if (stopped) return [];
      let warnings: readonly string[] = [];
      const announce: Configure = () => {
        const announced = announceReload(log, inForce.started, inForce.loaded, next, readStartFacts(node));
        journal.record(reloadRecord(announced.message));
        warnings = announced.warnings;
      };
      acting.orders?.withdraw(); // the next pass gives another one
      // The workload sources first: if they cannot be opened, nothing has changed.
      for (const configure of [...observed.reload, announce, inForce.configure, ...published.reload, ...acting.reload]) configure(next);
      status.configured(true);
      return warnings;
    },
    reloadRefused: (errors) => {
      const record = reloadRefusedRecord(errors);
      log.error(record.message, { code: 'EVICTD_RELOAD_REFUSED' });
      journal.record(record);
      status.configured(false);
    },
    resume: () => {
      const beganNs = process.hrtime.bigint();
      const message = deferred.resumed(acting);
      if (message !== undefined) answer('resume', { beganNs, refused: undefined, warnings: [], message });
    },
    answer,
    stop: async () => {
      stopped = true;
      acting.monitor.stop();
      served.metrics?.close();
      served.control?.close();
      const outlasted = locked.safeMode?.stopped(CLOSE_MS);
      await endOrderly({ ...acting, reporter, journal, keeper: saved.keeper, recorder, kernelKills: observed.kernelKills, log, closers });
      await outlasted;
      service.ended();
    },
  };
}
