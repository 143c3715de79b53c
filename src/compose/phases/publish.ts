import manifest from '../../../package.json' with { type: 'json' };
import type { Config } from '../../config/config.js';
import { pausedText } from '../../core/message/pause-message.js';
import { configuredHooks } from '../../core/hook/hook.js';
import { configuredKinds } from '../../core/notify/notification.js';
import { selectHost } from '../../host/select.js';
import { MetricsRegistry } from '../../metrics/registry.js';
import { Status } from '../../metrics/status.js';
import { ConditionsFile } from '../../features/admission/conditions-file.js';
import type { Journal } from '../../journal/journal.js';
import type { StepListener } from '../../monitor/ports/ports.js';
import type { Recorder } from '../../recording/recorder.js';
import { Reporter } from '../../monitor/reporter.js';
import { StepView } from '../../features/status/open.js';
import { Service } from '../../features/service/service-notifications.js';
import { native } from '../../native/index.js';
import { conditionsFileOf } from '../../features/admission/open.js';
import { LastGoodConfiguration } from '../../node/last-good-configuration.js';
import type { Configure } from '../../node/configuration-in-force.js';
import { openJournal } from '../journal.js';
import { reclaimNames } from '../../features/reclaim/open.js';
import { createRecorder, recordedConfig } from '../../recording/open.js';
import { openSavedState, type SavedStateAccess } from '../saved-state.js';
import type { Locked } from './lock.js';

/** Everything that evictd writes: nothing is observed before. */
export interface Published {
  readonly status: Status;
  readonly reporter: Reporter;
  readonly journal: Journal;
  readonly saved: SavedStateAccess;
  /** undefined: no recording. */
  readonly recorder: Recorder | undefined;
  /** undefined: a dry run publishes no conditions. */
  readonly conditions: ConditionsFile | undefined;
  readonly service: Service;
  readonly registry: MetricsRegistry;
  /** What clients see of the steps. */
  readonly view: StepView;
  readonly listeners: readonly StepListener[];
  readonly reload: readonly Configure[];
}

/** Throws UnavailableError if the runtime directory cannot be used. */
export function publish({ options, node: { identity }, inForce, instance, turns, log, closers, safeMode }: Locked): Published {
  const { dryRun, recording, requests } = options;
  const { config } = inForce;
  const status = new Status();
  configureStatus(status, config);
  status.safeMode = safeMode?.because;
  const journal = closers.add(openJournal(config, { node: identity.name, instance, dryRun, turns, log }));
  const registry = new MetricsRegistry(status, {
    version: manifest.version,
    dryRun,
    journalErrors: () => journal.errors,
    journalLostRecords: () => journal.lost,
    logLinesDropped: () => log.dropped,
    memoryNodes: () => selectHost().readMemoryNodes(),
  });
  const saved = closers.add(openSavedState(config, { node: identity, instance, policy: inForce.policy(), journal, log }));
  const recorder = recording && createRecorder(recording, inForce.loaded, identity, dryRun, saved.restored.state, log);
  const conditions = dryRun ? undefined : new ConditionsFile({ ...conditionsFileOf(config), log });
  const view = new StepView();
  const does = `${dryRun ? 'dry run beside' : 'guarding'} ${identity.name}`;
  const service = new Service({
    manager: selectHost().openServiceManager(native, process.env, requests.stop),
    what: () => {
      const paused = status.pauses.filter(({ workload }) => workload === undefined).map((pause) => `${pausedText(pause)}; `);
      return (safeMode?.because === undefined ? '' : `safe mode, evicts nothing: ${safeMode.because}; `) + paused.join('') + does;
    },
  });
  const kept = dryRun ? undefined : closers.add(new LastGoodConfiguration(config.runtimeDirectory, instance));
  kept?.keep(inForce.loaded);
  return {
    status,
    reporter: new Reporter(log, status),
    journal,
    saved,
    recorder,
    conditions,
    service,
    registry,
    view,
    listeners: [conditions, recorder, service, view].filter((listener) => listener !== undefined),
    reload: [
      (next) => {
        configureStatus(status, next.config);
      },
      (next) => kept?.keep(next),
      (next) => recorder?.reconfigured(recordedConfig(next)),
    ],
  };
}

function configureStatus(status: Status, config: Config): void {
  status.monitoringInterval(config.monitoringIntervalNs);
  status.reclaiming(reclaimNames(config));
  status.disruptable(config.disruptionBudgets.map(({ name }) => name));
  status.hooking(configuredHooks(config), configuredKinds(config.notifications));
}
