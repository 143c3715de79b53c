import manifest from '../../package.json' with { type: 'json' };
import { Removals } from '../actions/removals.js';
import type { LoadedConfig } from '../config/config.js';
import { normalCgroupPath } from '../core/cgroup.js';
import type { Policy } from '../core/state.js';
import { selectHost } from '../host/select.js';
import { createLog, type Log } from '../log.js';
import { rotatingFile } from '../log/rotating-file.js';
import { MetricsRegistry } from '../metrics/registry.js';
import { MetricsServer } from '../metrics/server.js';
import { Status } from '../metrics/status.js';
import { ConditionsFile } from '../monitor/conditions-file.js';
import { Monitor } from '../monitor/loop.js';
import type { ContainerRuntime } from '../monitor/ports.js';
import { notReleasedRecord, reloadRecord, reloadRefusedRecord, startRecord } from '../monitor/record.js';
import { Releases } from '../monitor/releases.js';
import { removalRecord } from '../monitor/removal-record.js';
import { reloadAnswerPath, writeReloadAnswer, type ReloadAnswer } from '../monitor/reload-answer.js';
import { Reporter } from '../monitor/reporter.js';
import { Service } from '../monitor/service.js';
import { native } from '../native/index.js';
import { ContainerNames } from '../workloads/container-names.js';
import { withUnitStops } from '../workloads/unit-stops.js';
import { conditionsFileOf } from './admission.js';
import { announceReload, announceStart } from './announcement.js';
import { holdInstance, type AskedOtherwise } from './instance.js';
import { openJournal } from './journal.js';
import { KernelKills } from './kernel-kills.js';
import { lockText } from './locked-text.js';
import { readStartFacts } from './machine-facts.js';
import { ContainerRuntimes } from './container-runtimes.js';
import { openDisks } from './disks.js';
import { openEvictors } from './evictors.js';
import { policyOf } from './policy.js';
import { openReading, openSources } from './reading.js';
import { replaceable } from './replaceable-source.js';
import { Rest } from './rest.js';
import { openSafetyNet } from './safety-net.js';
import { takeOverState } from './takeover.js';
import { endOrderly } from './orderly-end.js';
import { openReclaimer, reclaimNames } from './reclaim.js';
import { createRecorder, recordedConfig, type RecordingPlan } from './recording.js';
import { MachineShutdown } from './shutdown-run.js';
import { startThreadPool } from './thread-pool.js';
import { unitProtection } from './unit-protection.js';

/** Ends the process without waiting for threads that hang in a dead filesystem. */
export function exitNow(code: number): never {
  return native.exitNow(code);
}

/** A running evictd. */
export interface Guard {
  readonly log: Log;
  /** What the service manager is told. */
  readonly service: Service;
  /** Takes another configuration over; what needs a restart stays as it is, and is said. Returns what was warned of in the log, a line each. */
  reload(loaded: LoadedConfig): readonly string[];
  /** Another configuration was asked for and cannot be had: the one before stays. `errors`: as said in the log, a line each. */
  reloadRefused(errors: readonly string[]): void;
  /** Tells whoever waits what came of a reload. */
  answerReload(answer: Omit<ReloadAnswer, 'pid'>): void;
  /** Resolves within 18 s: 8 s for systemd, 5 s for journal and recording, 5 s for the log. A thread may still hang in the state directory: end with exitNow. */
  stop(): Promise<void>;
}

export interface GuardOptions {
  readonly dryRun: boolean;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** undefined: the log goes to standard error. */
  readonly logFile: string | undefined;
  /** undefined: nothing is recorded. */
  readonly recording: RecordingPlan | undefined;
  readonly asked: AskedOtherwise;
  /** Called after a tick, and after a step that has acted, when nothing is waiting: for what is better not done in the next step. */
  readonly atRest: () => void;
}

/** Builds and starts everything. Throws UnavailableError where the node is missing or guarded already; nothing is left behind then. */
export function startGuard(loaded: LoadedConfig, { dryRun, isTTY, env, logFile, recording, asked, atRest }: GuardOptions): Guard {
  const { config } = loaded;
  const host = selectHost();
  const units = host.openUnitManager();
  const runtimes = new ContainerRuntimes();
  const containerNames = new ContainerNames(false);
  const closers = [
    (): void => {
      units.close();
    },
    (): void => {
      runtimes.close();
    },
  ];
  try {
    const reading = openReading(loaded, dryRun ? 'sample' : 'arm', { units, runtimes: runtimes.of(config), containerNames });
    const { node } = reading;
    let workloads = reading.workloads;
    closers.unshift(() => {
      workloads.close();
      node.close();
    });
    const lock = holdInstance(config.runtimeDirectory, node.identity, dryRun, asked);
    closers.push(() => {
      lock.close();
    });
    const log = createLog({ ...config.log, isTTY, env, ...(logFile !== undefined && { sink: rotatingFile(logFile) }) });
    if (lock.recordError) {
      log.warn(`evictd reload will not find this process: ${lock.recordError.message}`, { code: 'EVICTD_INSTANCE_UNTOLD' });
    }
    if (!dryRun) lockText(log);
    startThreadPool();
    const status = new Status();
    status.monitoringInterval(config.monitoringIntervalNs);
    status.reclaiming(reclaimNames(config));
    const journal = openJournal(config, { node: node.identity.name, instance: lock.instance, dryRun, log });
    const registry = new MetricsRegistry(status, {
      version: manifest.version,
      dryRun,
      journalErrors: () => journal.errors,
      journalLostRecords: () => journal.lost,
      logLinesDropped: () => log.dropped,
    });
    const server = config.metrics && new MetricsServer({ ...config.metrics, status, registry, log });
    const hierarchies = host.readHierarchies();
    const ofUnits = hierarchies.systemd ?? hierarchies.unified ?? node.hierarchy;
    const own = ofUnits && host.ownMemoryCgroup(ofUnits);
    let isProtected = unitProtection(config, own);
    const opened = replaceable(() => workloads);
    const disks = openDisks(config, {
      node,
      workloads: opened,
      runtimes: () => runtimes.of(inForce.config),
      thresholds: () => inForce.config.thresholds,
      log,
      journal,
      onNews: () => {
        monitor.lookAtFilesystems();
      },
    });
    const source = withUnitStops(
      disks.watch.on(opened),
      units,
      (unit) => isProtected(unit),
      (unit) => isProtected(unit, true),
    );
    const net = dryRun ? undefined : openSafetyNet(config, { node, workloads: source, instance: lock.instance, log });
    closers.unshift(() => net?.close());
    const service = new Service({
      manager: host.openServiceManager(native, process.env, asked.stop),
      what: `${dryRun ? 'dry run beside' : 'guarding'} ${node.identity.name}`,
    });
    let inForce = loaded;
    const guarded = { node: node.identity.cgroup, allocatable: config.allocatable && normalCgroupPath(config.allocatable.cgroup) };
    const kernelKills = new KernelKills({ node, guarded, workloads: source, log, journal, metrics: status });
    closers.unshift(() => {
      kernelKills.close();
    });
    const published = dryRun ? undefined : new ConditionsFile({ ...conditionsFileOf(config), log });
    const listeners = [published, net].filter((listener) => listener !== undefined);
    // The node reads what it was started with.
    const policyNow = (): Policy => policyOf({ ...inForce.config, allocatable: config.allocatable }, dryRun, shutdown.lasts);
    const policy = policyOf(config, dryRun);
    const takenOver = takeOverState(config, { node: node.identity, instance: lock.instance, policy, journal, log });
    const { inheritance, keeper } = takenOver;
    closers.unshift(() => {
      takenOver.close();
    });
    const recorder = recording && createRecorder(recording, loaded, node.identity, dryRun, inheritance.state, log);
    const reporter = new Reporter(log, status);
    const releases = new Releases(units, (hold, why) => {
      journal.record(notReleasedRecord(hold, why));
      reporter.releaseRefused(hold, why);
    });
    const runtimeOf = (endpoint: string): ContainerRuntime | undefined => runtimes.get(endpoint);
    const removals = new Removals(runtimeOf, (workload, error) => {
      journal.record(removalRecord(workload, error));
      reporter.removal(workload, error);
    });
    const rest = new Rest(() => {
      removals.retry();
      journal.retry();
      takenOver.retry();
      atRest();
    });
    const reclaimer = openReclaimer({ ...config, filesystems: disks.filesystems }, () => runtimes.of(inForce.config));
    const victims = { hierarchies: { ...hierarchies, memory: node.hierarchy }, rules: () => inForce.config.rules };
    const { evictor, atShutdown } = openEvictors({ ...victims, units, runtimeOf, removals, reporter, releases });
    const shutdown = new MachineShutdown({
      openDelay: () => host.openShutdownDelay(!dryRun),
      workloads: source,
      evictor: atShutdown,
      journal,
      log,
      dryRun,
      status,
      changed: (lasts) => {
        published?.shuttingDown(lasts);
        monitor.reconfigure(policyNow(), inForce.config.monitoringIntervalNs);
      },
    });
    const parts = {
      node,
      workloads: recorder?.watching(source) ?? source,
      evictor,
      reclaimer,
      releases,
      journal,
      keeper,
      reporter,
      listeners: [
        ...listeners,
        ...(recorder ? [recorder] : []),
        kernelKills,
        disks.filesystems,
        disks.watch,
        disks.space,
        service,
        rest,
        shutdown,
      ],
      heartbeat: service,
    };
    const monitor = new Monitor(parts, policy, config.monitoringIntervalNs, inheritance);
    const started = startRecord({ ...inheritance, version: manifest.version, dryRun, recovered: journal.recovered });
    journal.record({ ...started, bootId: host.readBootId(), ...kernelKills.counted });
    takenOver.settle();
    const mayEndOthers = host.mayEndOthers(native);
    announceStart(log, loaded, { node: node.identity, dryRun, mayEndOthers, machine: readStartFacts(node) });
    service.resumed(inheritance.state.conditions);
    kernelKills.start();
    monitor.start();
    server?.start();
    process.nextTick(service.ready.bind(service)); // the address of the metrics is bound in it, too, and first
    shutdown.configure(config);

    let stopped = false;
    return {
      log,
      service,
      reload: (next) => {
        if (stopped) return [];
        const before = workloads;
        workloads = openSources(next, node, true, { units, runtimes: runtimes.of(next.config), containerNames });
        containerNames.renew();
        before.close();
        runtimes.keepOnly(next.config);
        isProtected = unitProtection(next.config, own);
        status.monitoringInterval(next.config.monitoringIntervalNs);
        const { message, warnings } = announceReload(log, config, inForce, next, readStartFacts(node));
        journal.record(reloadRecord(message));
        inForce = next;
        recorder?.reconfigured(recordedConfig(next));
        net?.configure(next.config.oomScoreAdj);
        reclaimer.steps = next.config.reclaim;
        status.reclaiming(reclaimNames(next.config));
        monitor.reconfigure(policyNow(), next.config.monitoringIntervalNs);
        shutdown.configure(next.config);
        status.configured(true);
        return warnings;
      },
      reloadRefused: (errors) => {
        const record = reloadRefusedRecord(errors);
        log.error(record.message, { code: 'EVICTD_RELOAD_REFUSED' });
        journal.record(record);
        status.configured(false);
      },
      answerReload: (answer) => {
        try {
          writeReloadAnswer(reloadAnswerPath(config.runtimeDirectory, lock.instance), { pid: process.pid, ...answer });
        } catch (error) {
          log.warn(`evictd reload will not learn what came of it: ${String(error)}`, { code: 'EVICTD_RELOAD_ANSWER' });
        }
      },
      stop: async () => {
        stopped = true;
        monitor.stop();
        server?.close();
        await endOrderly({ monitor, removals, releases, keeper, journal, reporter, recorder, kernelKills, shutdown, log, closers });
        service.ended();
      },
    };
  } catch (error) {
    for (const close of closers) close();
    throw error;
  }
}
