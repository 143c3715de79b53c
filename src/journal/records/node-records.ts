import type { Decision, Outcome } from '../../core/decide/eviction.js';
import { restartText, type EndedPod } from '../../core/kubernetes/pending-deletion.js';
import { stopMethodOf } from '../../core/message/stop-method.js';
import { stoppedUnits, signalReason } from '../../core/message/unit-message.js';
import { victimOf } from './ranking-row.js';
import type { Workload } from '../../core/workload/workload.js';
import type { JournalRecord } from './record.js';
import { holderJson, holdersText } from '../../core/disk/disk-holder.js';
import { type DiskHolder } from '../../core/disk/filesystem-holders.js';
import type { DiskSignal } from '../../core/signal/signal.js';
import type { ReportedFilesystems } from '../../monitor/ports/container-runtime.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { countedKillMessage, kernelKillMessage, type KernelKill, type OomLimit } from '../../core/oom/kernel-kill.js';
import type { CountedKills } from '../../core/oom/oom-kill-count.js';
import type { JsonObject } from '../../core/name/json-text.js';

export function actionOf({ graceNs, unit, victim }: Decision): string {
  const { ask, kill } = stopMethodOf(victim.workload);
  if (graceNs > 0n) return unit?.stop?.kind === 'stop' ? 'systemd stop' : ask;
  return kill;
}

/** What a decision has for a systemd unit beside the fields of every victim. */
export function unitOf({ victim: { workload }, graceNs, unit }: Decision): JsonObject {
  if (unit === undefined || workload.unit === undefined) return {};
  const { stop, hold, evictions } = unit;
  return {
    unit: {
      name: workload.unit.name,
      manager: workload.unit.manager,
      evictions,
      ...(stop?.kind === 'stop' ? { stopsWith: stoppedUnits(unit, graceNs > 0n) } : {}),
      ...(stop !== undefined && stop.affected.length > 0 && graceNs <= 0n ? { affected: stop.affected } : {}),
      ...(stop?.kind === 'signal' ? { signalledBecause: signalReason(stop) } : {}),
      ...(hold ? { keptStopped: hold.untilNs === undefined ? `until ${hold.condition} has cleared` : 'back-off', start: hold.start } : {}),
    },
  };
}

export function stormOf(decision: Decision | undefined): JsonObject {
  if (decision?.unit === undefined) return {};
  return { decision: decision.serial, victim: victimOf(decision.victim), evictions: decision.unit.evictions };
}

/** systemd's answer: the units that were stopped with the victim. */
export function stoppedWith({ decision, systemd }: Outcome): JsonObject {
  if (systemd === undefined) return {};
  const own = decision.victim.workload.unit?.name;
  return {
    stoppedWith: systemd.units.filter((name) => name !== own),
    ...(systemd.errors.length === 0 ? {} : { systemdErrors: systemd.errors }),
  };
}

export function restartRecord(pod: EndedPod): JournalRecord {
  const { uid, namespace, name, decision } = pod;
  return { type: 'restart', decision, victim: { name: `${namespace}/${name}`, id: uid }, message: restartText(pod) };
}

/**
 * The container runtime removes a workload that was evicted.
 *
 * @param error  why it could not yet; undefined: it has
 */
export function removalRecord({ name, path, id }: Workload, error: string | undefined): JournalRecord {
  return {
    type: 'removal',
    victim: { name, path, id },
    removed: error === undefined,
    ...(error === undefined ? {} : { error }),
    message: removalText(name, error),
  };
}

export function removalText(name: string, error: string | undefined): string {
  if (error === undefined) return `${name} was removed by its container runtime, with its files`;
  return `${name} was evicted, but its container runtime did not remove it: ${error}; evictd tries again at every tick`;
}

export function holdersRecord(signal: DiskSignal, holders: readonly DiskHolder[]): JournalRecord {
  const found = holders.length > 0 ? holdersText(holders) : 'no large holder was found';
  return { type: 'holders', signal, holders: holders.map(holderJson), message: `${signal}: ${found}` };
}

/**
 * The filesystems of images and containers from now on.
 *
 * @param reported  undefined: where the configuration says
 * @param isApart  images are not on nodefs
 */
export function filesystemsRecord(reported: ReportedFilesystems | undefined, isApart: boolean): JournalRecord {
  if (reported === undefined) return { type: 'filesystems', message: 'images and containers are where the configuration says' };
  const { endpoint, imagefs, containerfs = imagefs } = reported;
  const what = containerfs === imagefs ? 'images and containers are' : `containers are in ${containerfs}, images`;
  const where = isApart ? 'not on nodefs' : 'on nodefs';
  return { type: 'filesystems', endpoint, imagefs, containerfs, message: `${endpoint} says that ${what} in ${imagefs}, ${where}` };
}

/**
 * The kernel's OOM killer has killed a process.
 *
 * @param workload  which lost the process; undefined: it was in none
 */
export function kernelOomRecord(
  kill: KernelKill,
  limit: OomLimit,
  workload: { readonly name: string; readonly path: string } | undefined,
): JournalRecord {
  const { limitedCgroup, cgroup, uid, anonBytes, constraint, pid, name, oomScoreAdj, sinceBootUs } = kill;
  return {
    type: 'kernel-oom',
    limit,
    constraint,
    ...(limitedCgroup === undefined ? {} : { limitedCgroup }),
    ...(cgroup === undefined ? {} : { cgroup }),
    ...(workload === undefined ? {} : { workload }),
    process: { pid, name, ...(uid === undefined ? {} : { uid }), anonBytes: jsonInteger(anonBytes), oomScoreAdj },
    sinceBootUs,
    message: kernelKillMessage(kill, workload?.name),
  };
}

/**
 * OOM kills that are only in the kernel's counters.
 *
 * @param node  undefined: the machine
 */
export function countedOomRecord(
  kills: CountedKills,
  limit: OomLimit,
  workload: { readonly name: string; readonly path: string } | undefined,
  node: string | undefined,
): JournalRecord {
  const { cgroup, count, limit: reached } = kills;
  return {
    type: 'kernel-oom',
    limit,
    count,
    ...(reached.kind === 'cgroup' ? { limitedCgroup: reached.path } : {}),
    ...(cgroup === undefined ? {} : { cgroup }),
    ...(workload === undefined ? {} : { workload }),
    message: countedKillMessage(kills, workload?.name, node),
  };
}
