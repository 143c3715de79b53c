import type { Colour } from '../../cli/output/style.js';
import { table } from '../../cli/output/table.js';
import { clipped } from '../../cli/output/text-columns.js';
import { budgetStatusText } from '../../core/disruption/disruption-budget.js';
import { drainText, drainWaits } from '../../core/drain/drain-status.js';
import { printable } from '../../core/name/printable.js';
import { amountText, clockTime, cutMark, drawn, EMPTY, timeText, type Drawing, type Line, unitOf, type ScreenSize } from './screen-line.js';
import { sparkline } from './sparkline.js';
import type {
  Amount,
  CandidatesStatus,
  EvictionStatus,
  PolicyStatus,
  SignalStatus,
  StatusDocument,
  TaintStatus,
  ThresholdStatus,
} from './status-document.js';

/** The number of candidates and of decisions where the screen has no limit. */
const LISTED = 10;
/** Why workloads wait in a drain. */
const REASONS = 2;
/** The share of candidates in the lines for candidates and decisions. */
const CANDIDATES_SHARE = 0.6;

/** A status as lines that fit on a screen. What matters most comes first; candidates and decisions share what is left. */
export function statusScreen(status: StatusDocument, drawing: Drawing): string[] {
  return drawn(overview(status, drawing).lines, drawing);
}

/** @param skip  how many candidates are scrolled out at the top; the answer has how many there could be */
export function overview(status: StatusDocument, drawing: Drawing, skip = 0): Scrolled {
  const { rows } = drawing;
  const [head, foot] = [[...headLines(status), ...signalLines(status, drawing), ...stateLines(status)], footLines(status)];
  const left = rows === undefined ? undefined : Math.max(0, rows - head.length - foot.length);
  const most = left === undefined ? LISTED : Math.max(1, Math.floor((left - 4) * CANDIDATES_SHARE));
  const candidates = left === undefined || left > 3 ? candidateLines(status.candidates, drawing, { skip, most }) : { lines: [], skip: 0 };
  const room = left === undefined ? LISTED : left - candidates.lines.length - 1;
  return { lines: [...head, ...candidates.lines, ...(room > 0 ? decisionLines(status, room) : []), ...foot], skip: candidates.skip };
}

/** A configuration that is younger than the process by that was reloaded. */
const RELOADED_MS = 10_000;

export function headLines({ evictd, node, pauses }: StatusDocument): Line[] {
  const name = printable(node.name);
  if (evictd === null) return [{ text: `no evictd guards this node (${name}): values are read now`, colour: 'yellow' }];
  const { version, pid, startedAt, dryRun, configuration } = evictd;
  const does = dryRun ? `makes a dry run on ${name}` : `guards ${name}`;
  const isReloaded = Date.parse(configuration.inForceSince) - Date.parse(startedAt) >= RELOADED_MS;
  const since = isReloaded ? `, its configuration since ${clockTime(configuration.inForceSince)}` : '';
  return [
    { text: `evictd ${version} ${does}, process ${String(pid)} since ${clockTime(startedAt)}${since}` },
    ...(dryRun ? [{ text: 'a dry run evicts nothing', colour: 'yellow' } as const] : []),
    ...(configuration.refused
      ? [{ text: 'the last configuration has errors and is not in force: evictd config check', colour: 'yellow' } as const]
      : []),
    ...pauses.map(({ message }): Line => ({ text: message, colour: 'red' })),
  ];
}

const SIGNAL_COLUMNS = ['SIGNAL', '>VALUE', '>OF', '>LIMIT', '>LEFT', 'BEFORE'];
const NARROWEST_SPARKLINE = 8;

export function signalLines({ signals, thresholds }: StatusDocument, { columns, unicode }: ScreenSize & Pick<Drawing, 'unicode'>): Line[] {
  const rows = signals.map((each) => {
    const nearest = nearestOf(each, thresholds);
    const known = each.value !== null;
    const cells = [
      each.signal,
      known ? amountText(each.unit, each.value) : '?',
      each.unit === 'ratio' ? '' : amountText(each.unit, each.capacity),
      nearest ? `${amountText(each.unit, nearest.limit)} ${nearest.kind}${nearest.joined ? '&' : ''}` : '-',
      nearest ? (nearest.met ? 'met' : amountText(each.unit, nearest.distance)) : '',
    ];
    const colour: Colour | undefined = nearest?.met ? (nearest.kind === 'hard' ? 'red' : 'yellow') : known ? undefined : 'yellow';
    return { cells, colour, history: each.history, capacity: each.unit === 'ratio' ? 1 : Number(each.capacity ?? 0) };
  });
  if (rows.length === 0) return [{ text: 'no signal can be read', colour: 'red' }];
  const [head = '', ...plain] = table(
    SIGNAL_COLUMNS.slice(0, -1),
    rows.map(({ cells }) => cells),
  );
  const width = Math.max(head.length, ...plain.map(({ length }) => length));
  const graph = Math.max(NARROWEST_SPARKLINE, columns - width - 2);
  return [
    EMPTY,
    { text: `${head.padEnd(width)}  BEFORE`, colour: 'dim' },
    ...rows.map(({ colour, history, capacity }, index): Line => {
      return { text: `${(plain[index] ?? '').padEnd(width)}  ${sparkline(history, capacity, graph, unicode)}`.trimEnd(), colour };
    }),
  ];
}

interface Nearest {
  readonly limit: Amount | null;
  readonly distance: Amount | null;
  readonly kind: 'hard' | 'soft';
  readonly met: boolean;
  /** Other operands must be met, too. */
  readonly joined: boolean;
}

/** The threshold that is met, a hard one first, else the one that is reached first. */
function nearestOf({ signal }: SignalStatus, thresholds: readonly ThresholdStatus[]): Nearest | undefined {
  const own = thresholds.flatMap(({ operands, kind, met }) =>
    operands
      .filter((operand) => operand.signal === signal)
      .map(({ limit, distance }): Nearest => ({ limit, distance, kind, met: met === true, joined: operands.length > 1 })),
  );
  const rank = ({ met, kind }: Nearest): number => (met ? (kind === 'hard' ? 0 : 1) : 2);
  return own.sort((a, b) => rank(a) - rank(b) || Number(a.joined) - Number(b.joined) || Number(a.distance) - Number(b.distance))[0];
}

export function stateLines(status: StatusDocument): Line[] {
  const { conditions, taints, pressure, thresholds, evictions, policies, heldUnits, disruptionBudgets } = status;
  const set = conditions.filter(({ status }) => status === 'True');
  const names = set.map(({ type, clearsInSeconds }) =>
    clearsInSeconds === null ? type : `${type} (clears in ${timeText(clearsInSeconds)})`,
  );
  const percent = (share: number | undefined): string => (share === undefined ? '?' : `${String(Math.round(share * 100))}%`);
  const waited = pressure && (['memory', 'io', 'cpu'] as const).map((resource) => `${resource} ${percent(pressure[resource].some?.avg10)}`);
  return [
    EMPTY,
    { text: `conditions: ${names.join(', ') || 'none'}`, colour: set.length > 0 ? 'yellow' : undefined },
    ...taints.flatMap(taintLines),
    ...drainLines(status),
    ...disruptionBudgets.map((budget): Line => {
      const { name, expected, currentHealthy, desiredHealthy } = budget;
      if (expected === 0) return { text: `disruption budget ${name} matches no workload that has a process`, colour: 'yellow' };
      return { text: budgetStatusText(budget), colour: currentHealthy < desiredHealthy ? 'yellow' : undefined };
    }),
    ...(waited === null ? [] : [{ text: `tasks waited in the last 10 s: ${waited.join(', ')}` }]),
    ...apiServerLines(status),
    ...thresholds
      .filter(({ since }) => since !== null)
      .map(({ when, kind, actsInSeconds }): Line => {
        const acts = actsInSeconds === null || actsInSeconds === 0 ? '' : `; its grace period ends in ${timeText(actsInSeconds)}`;
        return { text: `${when} (${kind}) is met${acts}`, colour: kind === 'hard' ? 'red' : 'yellow' };
      }),
    ...evictions.map(evictionLine),
    ...policies.flatMap(policyLines),
    ...heldUnits.map(({ unit, startsInSeconds }): Line => {
      const starts = startsInSeconds === null ? '' : ` for ${timeText(startsInSeconds)}`;
      return { text: `${printable(unit)} is kept stopped${starts}`, colour: 'yellow' };
    }),
  ];
}

/** How far it is, and the most frequent reasons why workloads wait. */
function drainLines({ drain }: StatusDocument): Line[] {
  if (!drain) return []; // null, or an evictd that has no such part
  const shown = [drainText(drain), ...drainWaits(drain).slice(0, REASONS)];
  return shown.map((text) => ({ text: printable(text), colour: 'yellow' }));
}

function apiServerLines({ kubernetes }: StatusDocument): Line[] {
  if (!kubernetes) return []; // null, or an evictd that has no such part
  const { server, problem, pods, podsAgeSeconds, node } = kubernetes;
  const seen = podsAgeSeconds === null ? 'no pod is known' : `pods of ${node}: ${String(pods)}, confirmed ${timeText(podsAgeSeconds)} ago`;
  return [
    { text: `API server${server === null ? '' : ` ${server}`}: ${seen}` },
    ...(problem === null ? [] : [{ text: printable(problem), colour: 'yellow' } as const]),
  ];
}

/** The taint of a condition is not shown: the condition is. */
function taintLines({ taint, from, evictions }: TaintStatus): Line[] {
  if (from === 'condition') return [];
  return [
    {
      text: `taint ${taint}${from === 'configuration' ? ' (configuration)' : ''}`,
      colour: 'yellow',
    },
    ...evictions.map(({ name, endsAt }): Line => ({ text: `${printable(name)} is evicted at ${clockTime(endsAt)} for it`, colour: 'red' })),
  ];
}

export function evictionLine({ decision, name, phase, phaseSeconds, killsInSeconds, usageBytes }: EvictionStatus): Line {
  const kills = killsInSeconds === null ? '' : `, SIGKILL in ${timeText(killsInSeconds)}`;
  const since = `${phase} for ${timeText(phaseSeconds)}${kills}`;
  return { text: `eviction ${String(decision)} of ${printable(name)}: ${since}; uses ${amountText('bytes', usageBytes)}`, colour: 'red' };
}

export const POLICY_STATES = {
  holding: 'its condition holds',
  acting: 'acts',
  cooldown: 'pauses',
  relief: 'has ended, its condition still holds',
} as const;

export function policyLines({ name, steps, active }: PolicyStatus): Line[] {
  return active.map(({ scope, state, step, secondsLeft }) => {
    const where = scope === '' ? '' : ` on ${printable(scope)}`;
    const what = step === null ? '' : `: ${steps[step] ?? ''}, step ${String(step + 1)} of ${String(steps.length)}`;
    const left = secondsLeft === null ? '' : ` (${timeText(secondsLeft)} left)`;
    return { text: `policy ${name}${where} ${POLICY_STATES[state]}${what}${left}`, colour: 'yellow' };
  });
}

const CANDIDATE_COLUMNS = ['>#', 'WORKLOAD', '>PRIORITY', '>USAGE', '>REQUEST', '>GROWTH/S', ''];

/** Lines, and how many of them are scrolled out at the top. */
export interface Scrolled {
  readonly lines: readonly Line[];
  readonly skip: number;
}

/** What the other columns of a candidate take, with a short reason. */
const BESIDE_NAME = 76;
const NARROWEST_NAME = 24;
/** The width from which on there is room for every word. */
const WIDE = 100;

export function candidateLines(
  { signal, order, total, workloads }: CandidatesStatus,
  { columns, unicode }: Drawing,
  { skip, most }: { readonly skip: number; readonly most: number },
): Scrolled {
  const heading = `the order of eviction for ${signal}`;
  if (workloads.length === 0) return { lines: [EMPTY, { text: `${heading}: there is no workload` }], skip: 0 };
  const unit = unitOf(signal);
  const first = Math.min(skip, Math.max(0, workloads.length - most));
  const shown = workloads.slice(first, first + most);
  const [head = '', ...lines] = table(
    CANDIDATE_COLUMNS,
    shown.map((workload) => {
      const { place, name, priority, usage, request, growth, protection } = workload;
      return [
        String(place ?? '-'),
        clipped(printable(name), Math.max(columns - BESIDE_NAME, NARROWEST_NAME), cutMark(unicode)),
        String(priority),
        amountText(unit, usage),
        request === 0 ? '-' : amountText(unit, request),
        growth === null ? '-' : `${growth > 0 ? '+' : ''}${amountText(unit, growth)}`,
        protection === null ? '' : `${columns < WIDE ? '' : 'not evicted: '}${protection}`,
      ];
    }),
  );
  const count =
    total === shown.length ? `${String(total)} in all` : `${String(first + 1)} to ${String(first + shown.length)} of ${String(total)}`;
  const title = `${heading}${order ? `, by ${order}` : ''}, ${count}`;
  return {
    lines: [
      EMPTY,
      ...(head.length + title.length + 2 > columns ? [title, head] : [`${head}  ${title}`]).map((text): Line => ({ text, colour: 'dim' })),
      ...lines.map((text, index): Line => ({ text, colour: (shown[index]?.protection ?? null) === null ? undefined : 'dim' })),
    ],
    skip: first,
  };
}

function decisionLines({ decisions }: StatusDocument, most: number): Line[] {
  const lines = decisions.slice(0, most).map(({ time, message }): Line => ({ text: `${clockTime(time)}  ${printable(message)}` }));
  return lines.length === 0 ? [] : [EMPTY, ...lines];
}

export function footLines({ budget, notifiers, problems }: StatusDocument): Line[] {
  const spent = budget?.resources.filter(({ remaining }) => remaining < budget.max) ?? [];
  const dead = notifiers.filter(({ live }) => !live);
  return [
    ...spent.map(({ resource, remaining }): Line => {
      return { text: `eviction budget: ${String(remaining)} of ${String(budget?.max)} left for ${resource}`, colour: 'yellow' };
    }),
    ...dead.map(({ mechanism, target, reason }): Line => {
      return { text: `notifier ${mechanism} on ${printable(target)} is not live: ${printable(reason ?? 'unknown')}`, colour: 'yellow' };
    }),
    ...problems.map(({ message, hint }): Line => {
      return { text: printable(`${message}${hint === undefined ? '' : ` (${hint})`}`), colour: 'yellow' };
    }),
  ];
}
