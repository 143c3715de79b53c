import { stat } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig } from '../../config/config.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import { errnoText } from '../../errors.js';
import type { Hierarchies } from '../../host/linux/cgroup/hierarchies.js';
import { selectHost, type InstanceLock, type LinuxNode } from '../../host/select.js';
import { createLog, type Log } from '../../log/log.js';
import { rotatingFile } from '../../log/rotating-file.js';
import { native } from '../../native/index.js';
import { Turns } from '../../storage/turns.js';
import type { Closers } from '../closers.js';
import { ConfigurationInForce } from '../../node/configuration-in-force.js';
import { SafeMode } from '../../features/safe-mode/open.js';
import type { RecordingPlan } from '../../recording/open.js';

export interface GuardOptions {
  readonly dryRun: boolean;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** undefined: the log goes to standard error. */
  readonly logFile: string | undefined;
  /** undefined: no recording. */
  readonly recording: RecordingPlan | undefined;
  readonly requests: OperatorRequests;
  /** Called when all is open, before the first decision. */
  readonly collectAll: () => void;
  /** Called after a step that a tick caused or that had effects, as soon as evictd is idle. */
  readonly whenIdle: () => void;
  /** Called before the first decision where there are thousands of workloads. */
  readonly whenMany: () => void;
}

/** What an operator can ask of a running evictd by other means than a signal. */
export interface OperatorRequests {
  readonly reload: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
}

/** The node is this process's alone, and there is a log. */
export interface Locked {
  readonly options: GuardOptions;
  readonly node: LinuxNode;
  readonly hierarchies: Hierarchies;
  readonly inForce: ConfigurationInForce;
  /** Distinguishes the files of this node in the runtime directory. */
  readonly instance: string;
  /** Of all that uses the state directory. */
  readonly turns: Turns;
  readonly log: Log;
  readonly closers: Closers;
  /** undefined: a dry run evicts nothing anyway. */
  readonly safeMode: SafeMode | undefined;
}

/** Throws UnavailableError if the node does not exist or another evictd holds its lock. */
export function lock(loaded: LoadedConfig, options: GuardOptions, closers: Closers): Locked {
  const { config } = loaded;
  const { dryRun, isTTY, env, logFile, requests } = options;
  const host = selectHost();
  // First: what reads the node may hang.
  const held = closers.addLast(holdInstance(config, dryRun, requests));
  const node = closers.add(host.openNode(config, native, dryRun ? 'sample' : 'arm'));
  const log = createLog({ ...config.log, isTTY, env, ...(logFile !== undefined && { sink: rotatingFile(logFile) }) });
  if (held.recordError) {
    log.warn(`evictd reload cannot find this process: ${held.recordError.message}`, { code: 'EVICTD_INSTANCE_UNRECORDED' });
  }
  if (!dryRun) setWaiterRealtime(log);
  startThreadPool();
  const hierarchies = host.readHierarchies();
  const ofUnits = hierarchies.systemd ?? hierarchies.unified ?? node.hierarchy;
  const inForce = new ConfigurationInForce(loaded, dryRun, ofUnits && host.ownMemoryCgroup(ofUnits));
  const { instance } = held;
  const turns = new Turns();
  const safeMode = dryRun ? undefined : closers.add(openSafeMode(config, instance, turns, log));
  inForce.safeMode = safeMode?.because !== undefined;
  return { options, node, hierarchies, inForce, instance, turns, log, closers, safeMode };
}

/** Opened after the instance lock and closed before it, because only one evictd may write the run file. */
function openSafeMode(config: LoadedConfig['config'], instance: string, turns: Turns, log: Log): SafeMode {
  return new SafeMode(config, { instance, turns, bootId: selectHost().readBootId(), bootNs: () => native.bootTimeNs(), log });
}

/**
 * Takes the lock of a node, and listens to requests at it.
 *
 * @throws UnavailableError if another process holds it; HostError if the runtime directory cannot be used
 */
function holdInstance(
  { runtimeDirectory, node }: LoadedConfig['config'],
  dryRun: boolean,
  operatorRequests: OperatorRequests,
): InstanceLock {
  const host = selectHost();
  const cgroup = node.cgroup === undefined ? undefined : normalCgroupPath(node.cgroup);
  const held = host.lockInstance(runtimeDirectory, { name: cgroup ?? 'machine', cgroup }, native, dryRun);
  const requests = host.listenToRequests(join(runtimeDirectory, `${held.instance}.lock`), operatorRequests);
  return {
    ...held,
    close: () => {
      requests.close();
      held.close();
    },
  };
}

/** What fills the memory mostly keeps every processor busy, too, and nice only decides how soon a thread gets its turn. */
function setWaiterRealtime(log: Log): void {
  const errno = selectHost().setWaiterRealtime?.(native) ?? 0;
  if (errno === 0) return;
  log.info(
    `the thread that watches has no real-time priority: ${errnoText(errno)}; on busy processors it may act some milliseconds later ` +
      '(grant CAP_SYS_NICE, or set LimitRTPRIO=1; a kernel with CONFIG_RT_GROUP_SCHED needs cpu.rt_runtime_us in the cgroup)',
  );
}

/**
 * Makes libuv create its threads now: it creates them at the first use, and aborts the process if it cannot, for
 * example when no process id is left. Any asynchronous call will do.
 */
function startThreadPool(): void {
  stat('/', () => undefined);
}
