import { firstOf, isDryRun, resultOf, timeOf, type HistoryEvent } from '../history/history-event.js';

/** A JSON array written while the journal is read, one element per line: an eviction with its records, or a record. */
export class JsonArray {
  #any = false;

  event(event: HistoryEvent): string {
    const text = `${this.#any ? ',\n' : '[\n'}${JSON.stringify(jsonOf(event))}`;
    this.#any = true;
    return text;
  }

  end(): string {
    return this.#any ? '\n]\n' : '[]\n';
  }
}

function jsonOf(event: HistoryEvent): unknown {
  if (event.kind === 'record') return event.record;
  const { decision, escalation, outcome } = event;
  const first = firstOf(event);
  return {
    time: timeOf(event),
    type: 'eviction',
    node: first?.node,
    result: resultOf(event),
    dryRun: isDryRun(event),
    victim: first?.victim,
    decision,
    escalation,
    outcome,
  };
}
