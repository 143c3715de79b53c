import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { fsPath } from '../../byte-paths.js';
import type { Decision } from '../../core/decide/eviction.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { printable } from '../../core/name/printable.js';
import { actionTrigger } from '../../core/policy/action-trigger.js';
import { thresholdKind } from '../../core/threshold/threshold.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { hasEnded, type OpenNotifier } from './notifier.js';
import { attempt, messageOf } from '../../errors.js';

/** A record of the kernel's log has at most 1024 bytes with its prefix (kernel/printk/printk.c). */
const MAX_BYTES = 900;
const UNKNOWN = '0.00 0.00 0.00';

/** Writes a line to the kernel's log as oomd does (oomd/plugins/BaseKillPlugin.cpp, tryToLogAndKillCgroup). */
export const openKernelLogLine =
  (file = '/dev/kmsg'): OpenNotifier =>
  ({ kernelLog }, { hierarchies: { unified }, report }) => {
    if (!kernelLog) return undefined;
    /** Pressure by serial of the decision: afterwards the cgroup may be gone. */
    const pressures = new Map<number, string>();
    return {
      before: (decision) => {
        pressures.set(decision.serial, pressureOf(unified, decision));
      },
      over: (outcome) => {
        const { decision } = outcome;
        const pressure = pressures.get(decision.serial) ?? UNKNOWN;
        pressures.delete(decision.serial);
        if (!hasEnded(outcome)) return;
        const error = append(file, oomdLine(decision, pressure));
        report(error === undefined ? 'sent' : 'failed', error);
      },
      close: () => undefined,
    };
  };

/**
 * 'oomd kill: 10.13 9.52 4.20 batch.slice/job 209715200 ruleset:[memory.available] detectorgroup:[hard] killer:evictd
 * v2': pressure, cgroup, bytes, and where oomd has its rules, evictd's signal and kind of threshold, or the policy and what
 * it acted on.
 */
function oomdLine(decision: Decision, pressure: string): string {
  const { victim, cause } = decision;
  const { workload, stats, process: only } = victim;
  const [ruleset, group] = cause.kind === 'policy' ? [cause.policy, actionTrigger(cause)] : [evictionSignal(decision), groupOf(cause)];
  const bytes = String(only?.residentBytes ?? stats?.usageBytes ?? 0n);
  const killer = only === undefined ? 'evictd' : `evictd process:${String(only.pid)}(${printable(only.command)})`;
  const line = `oomd kill: ${pressure} ${printable(workload.path.slice(1))} ${bytes} ruleset:[${ruleset}] detectorgroup:[${group}] killer:${killer} v2`;
  return Buffer.from(line).subarray(0, MAX_BYTES).toString();
}

function groupOf(cause: Decision['cause']): string {
  if (cause.kind === 'threshold') return thresholdKind(cause.threshold);
  return cause.kind === 'disruption' ? cause.reason : 'limit';
}

/** The three averages of memory.pressure, `full`. */
function pressureOf(unified: CgroupHierarchy | undefined, { victim: { workload } }: Decision): string {
  if (unified === undefined) return UNKNOWN;
  const text = attempt(() => readFileSync(fsPath(`${cgroupDirectory(unified, workload.path)}/memory.pressure`), 'latin1')) ?? '';
  const [, avg10, avg60, avg300] = /^full avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+)/m.exec(text) ?? [];
  return avg10 === undefined ? UNKNOWN : `${avg10} ${avg60 ?? ''} ${avg300 ?? ''}`;
}

/** One write is one record. */
function append(file: string, line: string): string | undefined {
  try {
    const fd = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fd, `${line}\n`);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
