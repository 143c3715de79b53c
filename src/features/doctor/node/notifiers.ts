import type { Signal } from '../../../core/signal/signal.js';
import { operandsOf, operandText } from '../../../core/threshold/threshold.js';
import { degraded, ok, type Check, type Detail } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { NodeFacts, NotifierFacts } from '../facts/node-facts.js';

const ID = 'notifier.SIGNAL';

/** The notifiers of each signal with a threshold. Doctor armed them for this check and closed them again. */
export function checkNotifiers(node: NodeFacts): Check[] {
  const { notifiers } = node;
  if (notifiers === undefined) return [];
  const signals = [...new Set(node.thresholds.flatMap(operandsOf).map(({ signal }) => signal))];
  return signals.map((signal) =>
    checkSignal(
      signal,
      notifiers.filter((notifier) => notifier.signal === signal),
      node,
    ),
  );
}

function checkSignal(signal: Signal, notifiers: readonly NotifierFacts[], { thresholds, monitoringIntervalNs, absent }: NodeFacts): Check {
  const id = ID.replace('SIGNAL', signal);
  const limits = [
    ...new Set(
      thresholds
        .flatMap(operandsOf)
        .filter((operand) => operand.signal === signal)
        .map(operandText),
    ),
  ];
  const details = { thresholds: limits, notifiers: notifiers.map(detailOf) };
  const nothing = absent.get(signal);
  if (nothing !== undefined) return ok(id, `does not exist on this node: ${nothing}`, details);
  const live = notifiers.filter((notifier) => notifier.live);
  const dead = notifiers.filter((notifier) => !notifier.live);
  const refused = dead.map(({ mechanism, reason }) => `${mechanism} cannot be armed: ${reason ?? 'unknown'}`);
  const hints = [...new Set(dead.flatMap(({ hint }) => hint ?? []))].join('; ');
  const fix = hints === '' ? 'shorten monitoringInterval' : hints;
  if (live.length === 0) {
    const seconds = Number(monitoringIntervalNs) / 1e9;
    const why = refused.length === 0 ? 'no notifier exists for it' : refused.join('; ');
    return degraded(id, `${limits.join(', ')}: only polled every ${String(seconds)} s: ${why}`, fix, details);
  }
  const armed = live.map(({ mechanism, target }) => `${mechanism} (${target})`).join(', ');
  const summary = `${limits.join(', ')}: ${[armed, ...refused].join('; ')}`;
  return dead.some(({ essential }) => essential) ? degraded(id, summary, fix, details) : ok(id, summary, details);
}

function detailOf({ mechanism, target, live, reason, essential }: NotifierFacts): Detail {
  return { mechanism, target, live, essential, reason: reason ?? null };
}

export const notifiersCheck = defineCheck(ID, ['node'], ({ node }) => checkNotifiers(node));
