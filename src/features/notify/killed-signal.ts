import type { Decision } from '../../core/decide/eviction.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { printable } from '../../core/name/printable.js';
import { actionTrigger } from '../../core/policy/action-trigger.js';
import { hasEnded, type OpenNotifier } from './notifier.js';

/** Sends systemd-oomd's D-Bus signal Killed(cgroup, reason) when a workload has ended. */
export const openKilledSignal: OpenNotifier = ({ killedSignal, oomdBusName }, { host: { openOomSignal }, report, reportFailure }) => {
  if (!killedSignal || openOomSignal === undefined) return undefined;
  const bus = openOomSignal(oomdBusName, (why) => {
    reportFailure(`cannot own the bus name org.freedesktop.oom1: ${why}; signals are sent without it`);
  });
  return {
    over: (outcome) => {
      const { decision } = outcome;
      if (!hasEnded(outcome) || decision.victim.process !== undefined) return; // the cgroup goes on
      const error = bus.killed(printable(decision.victim.workload.path), reasonOf(decision));
      report(error === undefined ? 'sent' : 'failed', error);
    },
    close: () => {
      bus.close();
    },
  };
};

/** systemd-oomd's words for memory (org.freedesktop.oom1(5)); the name of the signal for what it does not know. */
function reasonOf(decision: Decision): string {
  const { cause, resource } = decision;
  if (cause.kind === 'policy') return actionTrigger(cause);
  if (resource !== 'memory' || cause.kind === 'disruption') return evictionSignal(decision);
  const signals = cause.kind === 'threshold' ? [cause.threshold, ...(cause.joined ?? []).map(({ operand }) => operand)] : [];
  return signals.some(({ signal }) => signal.startsWith('memory.pressure.')) ? 'memory-pressure' : 'memory-used';
}
