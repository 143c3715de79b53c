import { stat } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { openCgroupEvictor } from '../actions/kill-cgroup.js';
import type { Config, LoadedConfig } from '../config/config.js';
import { UnavailableError } from '../errors.js';
import { selectHost } from '../host/select.js';
import { createLog, type Log } from '../log.js';
import { liveness } from '../metrics/health.js';
import { MetricsRegistry } from '../metrics/registry.js';
import { MetricsServer } from '../metrics/server.js';
import { Status } from '../metrics/status.js';
import { ConditionsFile } from '../monitor/conditions-file.js';
import { Journal } from '../monitor/journal.js';
import { Monitor } from '../monitor/loop.js';
import type { Node, Reclaimer, WorkloadSource } from '../monitor/ports.js';
import { reloadRecord, startRecord, stopRecord } from '../monitor/record.js';
import { Reporter } from '../monitor/reporter.js';
import { Service } from '../monitor/service.js';
import { native } from '../native/index.js';
import { openWorkloads } from '../workloads/cgroup.js';
import { conditionsFileOf } from './admission.js';
import { announceReload, announceStart } from './announcement.js';
import { KernelKills } from './kernel-kills.js';
import { lockText } from './locked-text.js';
import { readMemoryFacts } from './machine-facts.js';
import { policyOf } from './policy.js';
import { openReading } from './reading.js';
import { Rest } from './rest.js';
import { openSafetyNet } from './safety-net.js';
import { createRecorder, recordedConfig, type RecordingPlan } from './recording.js';

/** How long an orderly end waits for a directory or a log that does not answer. */
const CLOSE_MS = 1_000;

/** Ends the process without waiting for threads that hang in a dead filesystem. */
export function exitNow(code: number): never {
  return native.exitNow(code);
}

/** On a machine nothing but evicting workloads frees anything. */
const NO_RECLAIM: Reclaimer = { collections: new Set(), run: () => Promise.resolve({ errors: [] }) };

/** A running evictd. */
export interface Guard {
  readonly log: Log;
  /** What the service manager is told. */
  readonly service: Service;
  /** Takes another configuration over; what needs a restart stays as it is, and is said. */
  reload(loaded: LoadedConfig): void;
  /** Resolves within two seconds. A thread may still hang in the state directory: end with exitNow. */
  stop(): Promise<void>;
}

export interface GuardOptions {
  readonly dryRun: boolean;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** undefined: nothing is recorded. */
  readonly recording: RecordingPlan | undefined;
  /** Called after a tick, and after a step that has acted, when nothing is waiting: for what is better not done in the next step. */
  readonly atRest: () => void;
}

/** Builds and starts everything. Throws UnavailableError where the node is missing or guarded already; nothing is left behind then. */
export function startGuard(loaded: LoadedConfig, { dryRun, isTTY, env, recording, atRest }: GuardOptions): Guard {
  const { config } = loaded;
  const reading = openReading(loaded, dryRun ? 'sample' : 'arm');
  const { node } = reading;
  const host = selectHost();
  let workloads = reading.workloads;
  const closers = [
    (): void => {
      workloads.close();
      node.close();
    },
  ];
  try {
    const lock = host.lockInstance(config.runtimeDirectory, node.identity, native, dryRun);
    closers.push(() => {
      lock.close();
    });
    const log = createLog({ ...config.log, isTTY, env });
    if (!dryRun) lockText(log);
    startThreadPool();
    const status = new Status();
    status.monitoringInterval(config.monitoringIntervalNs);
    const journal = openJournal(config, node, lock.instance, log);
    const registry = new MetricsRegistry(status, {
      version: manifest.version,
      dryRun,
      journalErrors: () => journal.errors,
      journalLostRecords: () => journal.lost,
      logLinesDropped: () => log.dropped,
    });
    const server = config.metrics && new MetricsServer({ ...config.metrics, status, registry, log });
    const source: WorkloadSource = {
      candidates: () => workloads.candidates(),
      refresh: () => {
        workloads.refresh();
      },
      problems: () => workloads.problems(),
      close: () => {
        workloads.close();
      },
    };
    const net = dryRun ? undefined : openSafetyNet(config, { node, workloads: source, instance: lock.instance, log });
    closers.unshift(() => net?.close());
    const service = new Service({
      manager: host.openServiceManager(native, process.env),
      what: `${dryRun ? 'dry run beside' : 'guarding'} ${node.identity.name}`,
      isAlive: () => liveness(status).ok,
    });
    let inForce = loaded;
    const kernelKills = new KernelKills({ node, log, journal, sources: () => inForce.config.workloads });
    closers.unshift(() => {
      kernelKills.close();
    });
    const listeners = dryRun ? [] : [new ConditionsFile({ ...conditionsFileOf(config), log }), ...(net ? [net] : [])];
    const recorder = recording && createRecorder(recording, loaded, node.identity, dryRun, log);
    const parts = {
      node,
      workloads: recorder?.watching(source) ?? source,
      evictor: openCgroupEvictor(native, { ...host.readHierarchies(), memory: node.hierarchy }),
      reclaimer: NO_RECLAIM,
      journal,
      reporter: new Reporter(log, status),
      listeners: [...listeners, ...(recorder ? [recorder] : []), kernelKills, service, new Rest(atRest)],
    };
    const monitor = new Monitor(parts, policyOf(config, dryRun), config.monitoringIntervalNs);
    journal.record(startRecord(manifest.version, dryRun, journal.recovered));
    announceStart(log, loaded, { node: node.identity, dryRun, mayEndOthers: host.mayEndOthers(), machine: readMemoryFacts(node) });
    kernelKills.start();
    monitor.start();
    server?.start();
    service.ready();

    let stopped = false;
    return {
      log,
      service,
      reload: (next) => {
        if (stopped) return;
        const before = workloads;
        workloads = openWorkloads(next.config, native, node);
        before.close();
        status.monitoringInterval(next.config.monitoringIntervalNs);
        journal.record(reloadRecord(announceReload(log, config, inForce, next, readMemoryFacts(node))));
        inForce = next;
        recorder?.reconfigured(recordedConfig(next));
        net?.configure(next.config.oomScoreAdj);
        // The node reads what it was started with.
        monitor.reconfigure(policyOf({ ...next.config, allocatable: config.allocatable }, dryRun), next.config.monitoringIntervalNs);
      },
      stop: async () => {
        stopped = true;
        monitor.stop();
        for (const { serial, victim } of monitor.terminating) {
          log.warn(`${victim.workload.name} was told to end (SIGTERM) and is left to itself: nobody sends SIGKILL`, { decision: serial });
        }
        server?.close();
        journal.record(stopRecord());
        await Promise.all([journal.close(CLOSE_MS), recorder?.flush(CLOSE_MS)]);
        for (const close of closers) close();
        log.info('stopped');
        await log.flush(CLOSE_MS);
      },
    };
  } catch (error) {
    for (const close of closers) close();
    throw error;
  }
}

/**
 * libuv makes its threads, all of them, at the first use of one, and aborts the process if it cannot: not when there is no process id left, but now. What
 * is asked for does not matter.
 */
function startThreadPool(): void {
  stat('/', () => undefined);
}

function openJournal(config: Config, node: Node, instance: string, log: Log): Journal {
  const { stateDirectory, runtimeDirectory } = config;
  const onError = (error: Error): void => {
    log.warn(`the journal cannot be written: ${error.message}; records are kept in ${runtimeDirectory} and tried again`, {
      code: 'EVICTD_JOURNAL_WRITE',
    });
  };
  const onLost = (records: number): void => {
    log.error(`${String(records)} journal records were lost: too many are waiting for ${stateDirectory}`, { code: 'EVICTD_JOURNAL_LOST' });
  };
  try {
    return new Journal({ stateDirectory, runtimeDirectory, instance, node: node.identity.name, onError, onLost });
  } catch (cause) {
    const hint = 'it needs 4 MiB there, on a tmpfs at best';
    throw new UnavailableError('EVICTD_JOURNAL_OPEN', `no journal in ${runtimeDirectory}: ${String(cause)}`, { hint, cause });
  }
}
