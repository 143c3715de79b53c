import type { Colour } from '../../../cli/output/style.js';
import { table } from '../../../cli/output/table.js';
import { drainText } from '../../../core/drain/drain-status.js';
import { printable } from '../../../core/name/printable.js';
import { amountText, clockTime, EMPTY, paragraph, timeText, type Drawing, type Line } from '../screen-line.js';
import type { OperandStatus, StatusDocument, ThresholdStatus } from '../status-document.js';
import { candidateLines, evictionLine, headLines, overview, policyLines, signalLines, type Scrolled } from '../status-screen.js';
import { withHint } from '../../../errors.js';

export interface Page {
  readonly name: string;
  /** Draws at most `rows` lines, of which `skip` are scrolled out. */
  readonly draw: (status: StatusDocument, drawing: Drawing & { readonly rows: number }, skip: number) => Scrolled;
}

/** The pages in the order of their numbers. To add a page, add an entry. */
export const PAGES: readonly [Page, ...Page[]] = [
  { name: 'overview', draw: overview },
  { name: 'signals', draw: (status, drawing, skip) => part(signalPage(status, drawing), drawing.rows, skip) },
  {
    name: 'workloads',
    draw: ({ candidates }, drawing, skip) => {
      const unreadable = candidates.unreadable.map(({ name, reason }): Line => ({
        text: printable(`${name}: ${reason}`),
        colour: 'yellow',
      }));
      const beside = unreadable.slice(0, Math.floor(drawing.rows / 4));
      const { lines, skip: skipped } = candidateLines(candidates, drawing, {
        skip,
        most: Math.max(1, drawing.rows - 2 - beside.length),
      });
      return { lines: [...lines.slice(1), ...beside], skip: skipped };
    },
  },
  { name: 'decisions', draw: (status, drawing, skip) => part(decisionPage(status, drawing), drawing.rows, skip) },
  { name: 'evictd', draw: (status, drawing, skip) => part(evictdPage(status, drawing), drawing.rows, skip) },
];

/** The rows of `lines` from `skip` on, or the last ones. */
export function part(lines: readonly Line[], rows: number, skip: number): Scrolled {
  const first = Math.min(skip, Math.max(0, lines.length - rows));
  return { lines: lines.slice(first, first + rows), skip: first };
}

/** A table below an empty line. @param colours  of its rows */
function titled(headings: readonly string[], rows: readonly (readonly string[])[], colours: readonly (Colour | undefined)[] = []): Line[] {
  const [head = '', ...lines] = table(headings, rows);
  return rows.length === 0 ? [] : [EMPTY, { text: head, colour: 'dim' }, ...lines.map((text, row) => ({ text, colour: colours[row] }))];
}

/** Every threshold with all its operands, the kernel's averages of pressure, and why a signal has no value. */
function signalPage(status: StatusDocument, drawing: Drawing): Line[] {
  const { thresholds, pressure, conditions, signals, historyAgesSeconds } = status;
  const [oldest] = historyAgesSeconds;
  const rows = thresholds.flatMap((each) => thresholdRows(each, status));
  const averages = (['memory', 'io', 'cpu'] as const).flatMap((resource) =>
    (['some', 'full'] as const).flatMap((kind) => {
      const line = pressure?.[resource][kind];
      return line ? [[`${resource} ${kind}`, ...[line.avg10, line.avg60, line.avg300].map((share) => amountText('ratio', share))]] : [];
    }),
  );
  const clearing = conditions.map(({ type, status: is, clearsInSeconds: clears }) => [
    type,
    clears === null ? is : `${is}, clears in ${timeText(clears)}`,
  ]);
  return [
    ...signalLines(status, drawing).slice(1),
    ...(oldest === undefined ? [] : [{ text: `BEFORE begins ${timeText(oldest)} ago`, colour: 'dim' } as const]),
    ...signals.flatMap(({ signal, reason }) => (reason === undefined ? [] : paragraph(`${signal}: ${reason}`, drawing.columns, 'yellow'))),
    ...titled(
      ['THRESHOLD', 'KIND', '>GRACE', 'STATE'],
      rows.map(({ cells }) => cells),
      rows.map(({ colour }) => colour),
    ),
    ...titled(['PRESSURE', '>10 s', '>1 min', '>5 min'], averages),
    ...titled(['CONDITION', 'STATUS'], clearing),
  ];
}

/** A row for the threshold, and a row for each operand if it is joined. */
function thresholdRows(threshold: ThresholdStatus, { signals }: StatusDocument): { cells: string[]; colour: Colour | undefined }[] {
  const { when, kind, met, since, actsInSeconds, graceSeconds, operands } = threshold;
  const leftOf = ({ signal: name, distance }: OperandStatus): string => {
    const unit = signals.find(({ signal }) => signal === name)?.unit ?? 'bytes';
    return distance !== null && Number(distance) < 0 ? 'reached' : `${amountText(unit, distance)} left`;
  };
  const acts = actsInSeconds === null || actsInSeconds === 0 ? '' : `, grace ends in ${timeText(actsInSeconds)}`;
  const what = met === true ? 'met' : since === null ? undefined : 'owes min reclaim';
  const [first] = operands;
  const single = operands.length === 1 && first !== undefined ? leftOf(first) : '';
  const state = what === undefined ? single : `${what}${since === null ? '' : ` since ${clockTime(since)}`}${acts}`;
  const colour: Colour | undefined = what === undefined ? undefined : kind === 'hard' ? 'red' : 'yellow';
  const each =
    operands.length === 1 ? [] : operands.map((operand) => ({ cells: [`  ${operand.signal}`, '', '', leftOf(operand)], colour }));
  return [{ cells: [when, kind, timeText(graceSeconds), state], colour }, ...each];
}

/** The workloads that a drain has left, evictions in flight with their reason, and the last records. */
function decisionPage({ drain, evictions, decisions }: StatusDocument, { columns }: Drawing): Line[] {
  return [
    ...(drain ? paragraph(drainText(drain), columns, 'yellow') : []),
    ...(drain?.left ?? []).flatMap(({ name, evicting, waits }) =>
      paragraph(`  ${name}${evicting ? ' is being evicted' : waits === undefined ? '' : ` waits: ${waits}`}`, columns),
    ),
    ...(drain ? [EMPTY] : []),
    ...evictions.flatMap((eviction) => [
      evictionLine(eviction),
      ...paragraph(`  ${eviction.message}`, columns),
      ...paragraph(`  ${eviction.path}${eviction.processes === null ? '' : `, processes: ${String(eviction.processes)}`}`, columns),
      EMPTY,
    ]),
    ...(decisions.length === 0 ? [{ text: 'no decisions are known' }] : []),
    ...decisions.flatMap(({ time, message }) => paragraph(`${clockTime(time)}  ${message}`, columns)),
  ];
}

/** The configuration and state of evictd: budget, policies, wake-ups, problems. */
function evictdPage(status: StatusDocument, { columns }: Drawing): Line[] {
  const { evictd, budget, policies, heldUnits, notifiers, problems } = status;
  const files = evictd?.configuration.files.join(', ') ?? '';
  return [
    ...headLines(status),
    ...(evictd === null ? [] : paragraph(`configuration: ${files === '' ? 'defaults and flags' : files}`, columns)),
    EMPTY,
    ...(budget === null
      ? [{ text: 'eviction budget: not limited' }]
      : budget.resources.map(({ resource, remaining, freeInSeconds }): Line => {
          const next = freeInSeconds === null ? '' : `, one more in ${timeText(freeInSeconds)}`;
          const text = `eviction budget for ${resource}: ${String(remaining)} of ${String(budget.max)} left in ${timeText(budget.windowSeconds)}${next}`;
          return { text, colour: remaining === 0 ? 'red' : remaining < budget.max ? 'yellow' : undefined };
        })),
    EMPTY,
    ...(policies.length === 0 ? [{ text: 'no policies' }] : []),
    ...policies.flatMap((policy) => [
      ...paragraph(`policy ${policy.name}: when ${policy.when}, then ${policy.steps.join(', ')}`, columns),
      ...policyLines(policy).map((line) => ({ ...line, text: `  ${line.text}` })),
    ]),
    ...heldUnits.map(({ unit, decision }): Line => {
      return { text: `${printable(unit)} is kept stopped after decision ${String(decision)}`, colour: 'yellow' };
    }),
    ...titled(
      ['NOTIFIER', 'SIGNAL', 'STATE', 'ON'],
      notifiers.map(({ mechanism, signal, target, live, reason }) => [
        mechanism,
        signal,
        live ? 'live' : `not live: ${reason ?? 'unknown'}`,
        target,
      ]),
      notifiers.map(({ live }) => (live ? undefined : 'yellow')),
    ),
    ...(problems.length === 0 ? [] : [EMPTY]),
    ...problems.flatMap(({ code, message, hint }) => paragraph(`${code}: ${withHint(message, hint)}`, columns, 'yellow')),
  ];
}
