import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { broken, ok, degraded, type Detail, command } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { judged } from '../findings.js';
import type { NotifierState } from '../../../core/threshold/notifier-state.js';
import { refusedText } from '../../../config/lint/thresholds/polled.js';
import { operandsOf, operandText } from '../../../core/threshold/threshold.js';
import { formatDuration } from '../../../core/quantity/duration.js';
import { hasSystemd } from '../../../host/facts.js';
import { delayRemedy, requestedText, suffices } from '../../../core/systemd/inhibit-delay.js';

export const nodeCheck = defineCheck('node.memory', ['node'], ({ node: { name, missing, capacities, estimated } }, id) => {
  if (missing) return broken(id, missing.message, missing.hint ?? 'correct node.cgroup', { node: name });
  const capacity = capacities.get('memory.available');
  if (capacity === undefined) return broken(id, `${name}: cannot read its memory`, 'see evictd check', { node: name });
  const details = { node: name, capacityBytes: jsonInteger(capacity) };
  if (estimated === 'missing') {
    const summary = `${name}, ${amountOfBytes(capacity)}: /proc/meminfo has no MemAvailable, so that memory that the kernel holds counts as available`;
    return degraded(id, summary, "show evictd the machine's /proc/meminfo, or raise evictionHard.memory.available", details);
  }
  return ok(id, `${name}, ${amountOfBytes(capacity)}`, details);
});

/** The notifiers of each signal with a threshold. Doctor armed them for this check and closed them again. */
export const notifiersCheck = defineCheck('notifier.SIGNAL', ['node', 'workloads'], ({ node, workloads }, pattern) => {
  const { notifiers, thresholds } = node;
  if (notifiers === undefined) return [];
  const operands = thresholds.flatMap(operandsOf);
  return [...new Set(operands.map(({ signal }) => signal))].map((signal) => {
    const own = notifiers.filter((notifier) => notifier.signal === signal);
    const limits = [...new Set(operands.filter((operand) => operand.signal === signal).map(operandText))];
    const states = own.map((each) => (each.live ? `${each.mechanism} (${each.target})` : refusedText(each)));
    const summary = `${limits.join(', ')}: ${states.join('; ') || 'polled, which is often enough'}`;
    return judged(pattern.replace('SIGNAL', signal), workloads, summary, { thresholds: limits, notifiers: own.map(detailOf) });
  });
});

function detailOf({ mechanism, target, live, reason, essential }: NotifierState): Detail {
  return { mechanism, target, live, essential, reason: reason ?? null };
}

export const reclaimCheck = defineCheck('reclaim.steps', ['reclaim'], ({ reclaim: { steps, systemd } }, id) => {
  if (steps.length === 0) return [];
  const names = steps.map(({ name }) => name);
  const details = { steps: names, systemd };
  if (!systemd)
    return [degraded(id, `${names.join(', ')}: needs systemd, which is not the init of this machine`, 'remove the key reclaim', details)];
  const without = steps.find(({ missing }) => missing !== undefined);
  if (without)
    return [degraded(id, `${without.name}: ${String(without.missing)} does not exist`, 'install it, or remove the step', details)];
  const idle = steps.filter(({ commands }) => commands === 0).map(({ name }) => name);
  const rest = idle.length === 0 ? '' : ` (nothing here for ${idle.join(', ')})`;
  return [ok(id, `${names.join(', ')}${rest}: evictd reclaim --dry-run estimates what they free`, details)];
});

const NS_PER_SECOND = 1e9;

/** Whether logind delays a shutdown for as long as the configuration requires. */
export const shutdownDelayCheck = defineCheck(
  'shutdown.delay',
  ['shutdown', 'service'],
  ({ shutdown: { requestedNs, delay }, service }, id) => {
    const requestedSeconds = Number(requestedNs) / NS_PER_SECOND;
    if (requestedNs <= 0n || delay === undefined)
      return ok(id, 'no graceful shutdown is configured (shutdownGracePeriod)', { requestedSeconds: 0 });
    const asked = requestedText(requestedNs);
    if (delay.kind === 'unknown') {
      const fix = !hasSystemd(service)
        ? 'remove shutdownGracePeriod: it needs systemd-logind'
        : 'systemctl status dbus systemd-logind; without logind systemd stops every unit at once, within its TimeoutStopSec';
      return degraded(id, `at a shutdown ${asked}: ${delay.reason}`, fix, { requestedSeconds, inhibitDelayMaxSeconds: null });
    }
    const inhibitDelayMaxSeconds = Number(delay.maxNs) / NS_PER_SECOND;
    const details = { requestedSeconds, inhibitDelayMaxSeconds, ...(delay.setIn !== undefined && { setIn: delay.setIn }) };
    const summary = `logind delays a shutdown by at most ${formatDuration(delay.maxNs)} (InhibitDelayMaxSec${delay.setIn === undefined ? '' : ` of ${delay.setIn}`}), ${asked}`;
    if (suffices(delay, requestedNs) === true) return ok(id, summary, details);
    const remedy = delayRemedy(delay, requestedNs, command('evictd install --logind-drop-in'));
    const fix = `${remedy}, and systemctl kill --signal=HUP systemd-logind`;
    return degraded(id, `${summary}: then systemd stops the remaining workloads`, fix, details);
  },
);
