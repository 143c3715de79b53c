import { Removals } from '../../evict/cri/container-removals.js';
import { selectHost } from '../../host/select.js';
import { Monitor } from '../../monitor/loop.js';
import type { StandingOrders } from '../../monitor/standing-orders.js';
import type { ContainerRuntime, StepListener } from '../../monitor/ports/ports.js';
import { native } from '../../native/index.js';
import { notReleasedRecord } from '../../journal/records/record.js';
import { Releases } from '../../monitor/unit-releases.js';
import { removalRecord } from '../../journal/records/node-records.js';
import type { Configure } from '../../node/configuration-in-force.js';
import { AroundEvictions } from '../around-evictions.js';
import { openEvictors } from '../evictors.js';
import { openReclaimer } from '../../features/reclaim/open.js';
import { finalUnitStopOf } from '../../workloads/systemd/unit-stops.js';
import { idleTasks } from '../idle-tasks.js';
import { openStandingOrders } from '../standing-orders.js';
import { outsideReader } from '../../features/memory-growth/open.js';
import { openOomScoreAdjuster } from '../../features/oom-score-adj/open.js';
import { MemoryNodePolicies } from '../../features/policy/bound-workloads.js';
import { Policies } from '../../features/policy/open.js';
import { UnitPolicies } from '../../features/policy/unit-policies.js';
import { openProcessRecords } from '../../features/victim-processes/open.js';
import { MachineShutdown } from '../../features/shutdown/open.js';
import type { Locked } from './lock.js';
import type { Observed } from './observe.js';
import type { Published } from './publish.js';

/** Everything by which evictd changes something, and the loop that decides it. */
export interface Acting {
  readonly removals: Removals;
  readonly releases: Releases;
  readonly shutdown: MachineShutdown;
  readonly monitor: Monitor;
  /** For an operator. Whether there was a safe mode. */
  readonly endSafeMode: () => boolean;
  /** undefined: there are none. */
  readonly orders: StandingOrders | undefined;
  readonly reload: readonly Configure[];
}

/** From so many workloads on, a decision takes long because of its code. */
const MANY = 1_000;

export function act(locked: Locked, published: Published, observed: Observed): Acting {
  const { options, node, inForce, instance, log, closers } = locked;
  const { dryRun, whenIdle } = options;
  const { config } = inForce;
  const { status, journal, saved, conditions, service, reporter } = published;
  const { workloads, runtimes, disks } = observed;
  const adjuster = dryRun ? undefined : openOomScoreAdjuster(config, { node, workloads, instance, log });
  if (adjuster) closers.add(adjuster);
  const { removals, releases, evictor, atShutdown, openOrder, around } = openEnders(locked, published, observed);
  const reclaimer = openReclaimer({ ...config, filesystems: disks.filesystems }, () => runtimes.of(inForce.config));
  const delay = { openDelay: () => selectHost().openShutdownDelay(!dryRun), evictor: atShutdown };
  const shutdown = new MachineShutdown({ ...delay, workloads, journal, log, dryRun, status });
  const endSafeMode = (end: 'renew' | 'resume') => leavesSafeMode(end, locked, published);
  const idle = idleTasks([() => removals.retry(), () => journal.retry(), () => saved.retry(), () => void endSafeMode('renew'), whenIdle]);
  const { policies, units } = openPolicies(locked, observed);
  const optional = [adjuster, locked.safeMode?.listener].filter((listener) => listener !== undefined);
  const own: readonly StepListener[] = [policies, units, ...optional, idle, around, shutdown];
  const listeners = [...published.listeners, ...observed.listeners, ...own];
  const processes = openProcessRecords(node.hierarchy);
  const orders = openOrder && openStandingOrders(openOrder, locked, published, processes);
  const kept = { journal, keeper: saved.keeper, reporter, listeners, heartbeat: service };
  const does = { evictor, reclaimer, releases, beforeSignal: around, outside: outsideReader(node, workloads), policies, processes };
  const parts = { bootNs: () => native.bootTimeNs(), node, workloads, ...does, ...kept, ...(orders && { orders }) };
  if (workloads.candidates('bounds').usages.length > MANY) options.whenMany();
  const monitor = new Monitor(parts, inForce.policy(), config.monitoringIntervalNs, saved.restored);
  status.renew = monitor.renew.bind(monitor);
  policies.onResult = monitor.policyActed;
  policies.onPressure = monitor.pressed;
  if (orders) orders.onCarriedOut = monitor.carriedOut;
  const reconfigure = (): void => {
    if (orders) orders.afterNs = inForce.config.standingOrderAfterNs;
    policies.configure({ policies: inForce.policies, rules: inForce.config.rules });
    monitor.reconfigure(inForce.policy(shutdown.lasts), inForce.config.monitoringIntervalNs);
  };
  inForce.onChange = reconfigure;
  shutdown.onChange((lasts) => {
    conditions?.shuttingDown(lasts);
    reconfigure();
  });
  disks.onChange(monitor.lookAtFilesystems.bind(monitor));
  void entersSafeMode(locked, published);
  return {
    ...{ removals, releases, shutdown, monitor, orders },
    endSafeMode: () => endSafeMode('resume'),
    reload: [
      (next) => adjuster?.configure(next.config.oomScoreAdj),
      (next) => {
        reclaimer.steps = next.config.reclaim;
        around.configure(next.config);
      },
      reconfigure,
      (next) => {
        shutdown.configure(next.config);
      },
    ],
  };
}

/** `units`: the policies that settings of units make, in force as soon as they are known. */
function openPolicies({ node, hierarchies, inForce, instance, log }: Locked, { managedUnits, workloads, units: unitManager }: Observed) {
  const all = { ...hierarchies, memory: node.hierarchy };
  const { runtimeDirectory, rules } = inForce.config;
  const where = { hierarchies: all, node: node.identity.cgroup, units: unitManager };
  const policies = new Policies({ ...where, runtimeDirectory, instance, log });
  policies.configure({ policies: inForce.policies, rules });
  const ofMemoryNodes = new MemoryNodePolicies(hierarchies.cpuset, workloads, () => inForce.config);
  const units = new UnitPolicies(
    () => managedUnits.of(inForce.config),
    (nowNs, isNew) => ofMemoryNodes.at(nowNs, isNew),
    (made) => {
      inForce.unitPolicies = made;
    },
  );
  return { policies, units };
}

/** After the start: what was counted in earlier boots is in the state directory, which may hang. */
async function entersSafeMode({ safeMode, inForce }: Locked, { status }: Published): Promise<void> {
  if (safeMode === undefined || !(await safeMode.countResets())) return;
  status.safeMode = safeMode.because;
  inForce.safeMode = true;
  safeMode.announce();
}

/** Whether evictd has run for long enough since the crashes, or an operator ends the safe mode. */
function leavesSafeMode(end: 'renew' | 'resume', { safeMode, inForce }: Locked, { status }: Published): boolean {
  if (safeMode?.[end]() !== true) return false;
  status.safeMode = undefined;
  inForce.safeMode = false;
  return true;
}

/** What ends workloads, what runs before and after that, and what clears up after them. */
function openEnders(locked: Locked, published: Published, { units, runtimes, podEvictions }: Observed) {
  const { node, hierarchies, inForce } = locked;
  const { journal, reporter } = published;
  const runtimeOf = (endpoint: string): ContainerRuntime | undefined => runtimes.get(endpoint);
  const releases = new Releases(units, (hold, why) => {
    journal.record(notReleasedRecord(hold, why));
    reporter.releaseRefused(hold, why);
  });
  const removals = new Removals(runtimeOf, (workload, error) => {
    journal.record(removalRecord(workload, error));
    reporter.removal(workload, error);
  });
  const evictors = openEvictors({
    hierarchies: { ...hierarchies, memory: node.hierarchy },
    rules: () => inForce.config.rules,
    countsCache: !inForce.started.departures['reclaimable-cache'],
    units,
    sureStop: finalUnitStopOf(units, inForce.isProtected),
    runtimeOf,
    removals,
    podEvictions,
    reporter,
    releases,
  });
  return { releases, removals, around: new AroundEvictions(locked, published), ...evictors };
}
