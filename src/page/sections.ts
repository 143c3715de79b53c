import { drainText, drainWaits } from '../core/drain/drain-status.js';
import { RESOURCE_SIGNALS } from '../core/signal/signal.js';
import { CANDIDATE_ORDERS } from '../features/status/candidate-order.js';
import { amountText, clockTime, timeText, unitOf } from '../features/status/screen-line.js';
import { footLines, headLines, POLICY_STATES, stateLines } from '../features/status/status-screen.js';
import type { StatusDocument } from '../features/status/status-document.js';
import { html, table, type Cell, type Child, type Heading } from './dom.js';
import { signalFigure } from './plot.js';

export interface Section {
  readonly title: string;
  /** Whether it takes both columns of a wide window. */
  readonly wide?: true;
  /** What the person may choose above the content. It stays when the content changes. */
  readonly choices?: (status: StatusDocument) => readonly Child[];
  /** The content; without any the section is hidden. */
  readonly show: (status: StatusDocument) => readonly Child[];
}

const text = (content: string, level?: string): Cell => ({ content, level });
const headings = (...names: readonly (string | Heading)[]): Heading[] =>
  names.map((name) => (typeof name === 'string' ? { text: name } : name));
const number = (name: string): Heading => ({ text: name, class: 'number' });

type Notice = ReturnType<typeof stateLines>[number];

/** What needs attention, the most important first: the lines of `evictd status` that have a colour. */
export function notices(status: StatusDocument): readonly Notice[] {
  const lines = [...headLines(status).slice(1), ...stateLines(status), ...footLines(status)];
  return [...lines.filter(({ colour }) => colour === 'red'), ...lines.filter(({ colour }) => colour === 'yellow')];
}

/** The sections of the page, in their order. To add a section, add an entry. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Notices',
    wide: true,
    show: (status) => {
      const lines = notices(status).slice(1); // the first is above all
      return lines.length === 0 ? [] : [html('ul', {}, ...lines.map((line) => html('li', { 'data-level': line.colour ?? '' }, line.text)))];
    },
  },
  {
    title: 'Signals',
    wide: true,
    show: (status) => [html('div', { class: 'signals' }, ...status.signals.map((signal) => signalFigure(signal, status)))],
  },
  { title: 'Order of eviction', wide: true, choices: rankingChoices, show: candidates },
  {
    title: 'Decisions',
    wide: true,
    show: ({ decisions }) =>
      decisions.length === 0
        ? ['None yet.']
        : [
            table(
              'the last records of the journal, the newest first',
              headings({ text: 'Time', class: 'time' }, 'Record', number('Decision'), { text: 'What and why', class: 'name' }),
              decisions.map(({ time, type, decision, message }) => [
                text(clockTime(time)),
                text(type),
                text(decision === null ? '' : String(decision)),
                text(message),
              ]),
            ),
          ],
  },
  {
    title: 'Node conditions',
    show: ({ conditions, taints, drain }) => [
      table(
        'as the kubelet names them',
        headings('Condition', 'Status', 'Clears in'),
        conditions.map(({ type, status, clearsInSeconds }) => [
          text(type),
          text(status, status === 'False' ? 'good' : 'yellow'),
          text(clearsInSeconds === null ? '' : timeText(clearsInSeconds)),
        ]),
      ),
      ...taints.filter(({ from }) => from !== 'condition').map(({ taint }) => html('p', { 'data-level': 'yellow' }, `taint ${taint}`)),
      ...(drain ? [drainText(drain), ...drainWaits(drain)] : []).map((line) => html('p', { 'data-level': 'yellow' }, line)),
    ],
  },
  { title: 'Eviction budget', show: budget },
  {
    title: 'Pressure',
    show: ({ pressure }) =>
      pressure === null
        ? []
        : [
            table(
              'share of the time that tasks waited (PSI)',
              headings('Resource', 'Tasks', number('10 s'), number('60 s'), number('300 s')),
              (['memory', 'io', 'cpu'] as const).flatMap((resource) =>
                (['some', 'full'] as const).flatMap((kind) => {
                  const averages = pressure[resource][kind];
                  if (averages === null) return [];
                  const { avg10, avg60, avg300 } = averages;
                  return [[text(resource), text(kind), ...[avg10, avg60, avg300].map((share) => text(amountText('ratio', share)))]];
                }),
              ),
            ),
          ],
  },
  { title: 'Policies', show: policies },
  {
    title: 'Notifiers',
    show: ({ notifiers }) => [
      table(
        'what wakes evictd',
        headings('Mechanism', 'Signal', { text: 'Target', class: 'name' }, 'State'),
        notifiers.map(({ mechanism, signal, target, live, reason, hint }) => [
          text(mechanism),
          text(signal),
          text(target),
          live ? text('live', 'good') : text(`not live: ${reason ?? 'unknown'}${hint === undefined ? '' : ` (${hint})`}`, 'yellow'),
        ]),
      ),
    ],
  },
];

/** Their names are the parameters of the API. */
function rankingChoices({ signals }: StatusDocument): readonly Child[] {
  const ranked = RESOURCE_SIGNALS.filter((name) => signals.some(({ signal }) => signal === name));
  const choice = (name: string, label: string, first: string, values: readonly string[]): HTMLElement =>
    html(
      'label',
      {},
      label,
      html('select', { name }, html('option', { value: '' }, first), ...values.map((value) => html('option', { value }, value))),
    );
  return [
    choice('signal', 'Signal', 'that evictd acts on next', ranked),
    choice('order', 'Sort by', 'order of eviction', CANDIDATE_ORDERS),
  ];
}

function candidates({ candidates: { signal, total, workloads, unreadable } }: StatusDocument): readonly Child[] {
  if (workloads.length === 0) return [`There is no workload that could be evicted for ${signal}.`];
  const unit = unitOf(signal);
  const rows = workloads.map(({ place, name, path, priority, usage, request, growth, protection }): Cell[] => {
    const why = html(
      'button',
      { type: 'button', 'data-workload': path, 'data-signal': signal, 'aria-label': `Explain ${name}` },
      'Explain',
    );
    const lines = protection === null ? [path] : [path, `not evicted: ${protection}`];
    return [
      text(String(place ?? '-')),
      { content: html('div', {}, name, ...lines.filter((line) => line !== name).map((line) => html('div', { class: 'dim' }, line))) },
      text(amountText(unit, usage)),
      text(growth === null ? '-' : `${growth > 0 ? '+' : ''}${amountText(unit, growth)}`),
      text(request === 0 ? '-' : amountText(unit, request)),
      text(String(priority)),
      { content: why },
    ];
  });
  const names = headings(
    number('#'),
    { text: 'Workload', class: 'name' },
    number('Usage'),
    number('Growth/s'),
    number('Request'),
    number('Priority'),
    'Why',
  );
  const shown = total === workloads.length ? `${String(total)} in all` : `the first ${String(workloads.length)} of ${String(total)}`;
  return [
    table(`for ${signal}, ${shown}`, names, rows),
    ...(unreadable.length === 0
      ? []
      : [
          html(
            'ul',
            {},
            ...unreadable.map(({ name, reason }) => html('li', { 'data-level': 'yellow' }, `${name} cannot be read: ${reason}`)),
          ),
        ]),
  ];
}

function budget({ budget: limits, pauses }: StatusDocument): readonly Child[] {
  const paused = pauses.map(({ message }) => html('p', { 'data-level': 'red' }, message));
  if (limits === null) return ['Evictions are not limited.', ...paused];
  const { max, windowSeconds, resources } = limits;
  const rows = resources.map(({ resource, remaining, freeInSeconds }) => [
    text(resource),
    text(`${String(remaining)} of ${String(max)}`, remaining === 0 ? 'red' : remaining < max ? 'yellow' : undefined),
    text(freeInSeconds === null ? '' : timeText(freeInSeconds)),
  ]);
  return [table(`evictions left in ${timeText(windowSeconds)}`, headings('Resource', 'Left', 'One more in'), rows), ...paused];
}

function policies({ policies: all }: StatusDocument): readonly Child[] {
  if (all.length === 0) return [];
  const rows = all.map(({ name, when, steps, active }) => [
    text(name),
    text(when),
    text(steps.join(', ')),
    text(
      active.map(({ scope, state }) => `${scope === '' ? 'the node' : scope}: ${POLICY_STATES[state]}`).join('; '),
      active.length === 0 ? undefined : 'yellow',
    ),
  ]);
  return [table('what evictd does before it evicts', headings('Policy', { text: 'Condition', class: 'name' }, 'Steps', 'Now'), rows)];
}
