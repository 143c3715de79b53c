import { amountOfBytes } from '../../core/quantity/amount.js';
import type { Style } from '../../cli/output/style.js';
import { table } from '../../cli/output/table.js';
import type { DemoRecord } from './evictd-process.js';
import type { DemoNode } from './demo-node.js';

export interface DemoReport {
  readonly ok: boolean;
  readonly node: DemoNode['described'];
  /** Journal records (docs/journal.md). */
  readonly decision: DemoRecord | undefined;
  readonly outcome: DemoRecord | undefined;
  readonly journal: readonly DemoRecord[];
  /** null: the system has no OOM killer. */
  readonly oomKills: { readonly source: string; readonly before: number; readonly after: number } | null;
  readonly workloads: readonly { readonly name: string; readonly alive: boolean; readonly end: string | undefined }[];
  readonly checks: readonly Check[];
}

export function reportText(report: DemoReport, style: Style): string {
  const { ok, decision, outcome, oomKills, checks } = report;
  const wrong = checks.filter((check) => !check.ok);
  const title = ok
    ? style('green', `evictd evicted batch, and only batch${oomKills ? ', before the OOM killer acted' : ''}.`)
    : style('red', 'The demo failed:');
  const facts: (readonly [string, string])[] = [
    ['reason', decision === undefined ? 'no decision in the journal' : reason(decision)],
    ['outcome', outcome === undefined ? 'no outcome in the journal' : outcome.message],
    ['latency', latency(outcome?.spansMs)],
    ...(oomKills === null
      ? []
      : ([['OOM killer', `${String(oomKills.before)} kills before, ${String(oomKills.after)} after (${oomKills.source})`]] as const)),
    [
      'alive',
      report.workloads
        .filter(({ alive }) => alive)
        .map(({ name }) => name)
        .join(', ') || 'none',
    ],
  ];
  return [
    '',
    title,
    ...wrong.map(({ check, seen }) => `  failed: ${check} (${seen})`),
    '',
    ...facts.map(([name, value]) => `  ${style('dim', name.padEnd(10))}  ${value}`),
    '',
    ...ranking(decision).map((line) => `  ${line}`),
    '',
  ].join('\n');
}

/** 'memory.available 63.9MiB < 64Mi (hard); batch uses …', the message without the action. */
function reason({ message }: DemoRecord): string {
  return message.slice(message.indexOf(': ') + 2);
}

function latency(spans: Readonly<Record<string, number>> | undefined): string {
  if (spans === undefined) return 'unknown';
  const ms = (span: string): string => (spans[span] === undefined ? '?' : `${spans[span].toFixed(2)} ms`);
  // A standing order has decided before the crossing.
  if (spans.crossingToWake === undefined) return `crossing → signal ${ms('crossingToSignal')} → gone ${ms('signalToExit')}`;
  const steps = `crossing → wake ${ms('crossingToWake')} → decision ${ms('wakeToDecision')} → signal ${ms('decisionToSignal')} → gone ${ms('signalToExit')}`;
  return `${steps}; crossing → signal ${ms('crossingToSignal')}`;
}

/** The eviction order of the decision. */
function ranking(decision: DemoRecord | undefined): string[] {
  if (decision?.ranking === undefined) return [];
  const evictable = decision.ranking.filter(({ protectedBecause }) => protectedBecause === undefined);
  const last = decision.ranking.filter(({ protectedBecause }) => protectedBecause !== undefined);
  const rows = [...evictable, ...last].map(({ name, priority, workingSetBytes, requestBytes, exceedsRequest, protectedBecause }, index) => [
    protectedBecause === undefined ? String(index + 1) : '-',
    name,
    amountOfBytes(BigInt(workingSetBytes)),
    requestBytes === 0 ? '-' : amountOfBytes(BigInt(requestBytes)),
    exceedsRequest ? 'yes' : 'no',
    String(priority),
    name === decision.victim?.name ? 'evicted' : (protectedBecause ?? ''),
  ]);
  return table(['>#', 'WORKLOAD', '>USAGE', '>REQUEST', 'EXCEEDED', '>PRIORITY', ''], rows);
}

/** Facts at the end of the demo. */
export interface DemoFacts {
  readonly records: readonly DemoRecord[];
  /** undefined: the system has no OOM killer. */
  readonly oomKills: { readonly before: number; readonly after: number } | undefined;
  /** Remaining processes of the leaking workload. */
  readonly leakingProcesses: number;
  readonly survivors: readonly { readonly name: string; readonly answers: boolean; readonly end: string | undefined }[];
  /** undefined: no recording. `problem`: a warning of evictd about it. */
  readonly recording?: { readonly file: string; readonly problem: string | undefined };
  /** How evictd ended after it was stopped. */
  readonly guardEnd: string;
}

export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly seen: string;
}

/** The checks of the demo, each with what was observed. */
export function verdict(facts: DemoFacts, leaking: string): Check[] {
  const { records, oomKills, leakingProcesses, survivors, recording, guardEnd } = facts;
  const decided = records.findIndex(({ type, victim }) => type === 'decision' && victim?.name === leaking);
  const ended = records.findIndex(({ type, victim }) => type === 'outcome' && victim?.name === leaking);
  const outcome = records[ended];
  const others = records.filter(({ type, victim }) => type === 'decision' && victim?.name !== leaking);
  return [
    {
      check: `evictd evicted ${leaking}`,
      ok: outcome?.result === 'killed' && leakingProcesses === 0,
      seen: outcome?.message ?? 'the journal has no outcome',
    },
    {
      check: 'evictd evicted no other workload',
      ok: others.length === 0,
      seen: others.length === 0 ? 'no other decision in the journal' : others.map(({ message }) => message).join('; '),
    },
    ...(oomKills === undefined
      ? []
      : [
          {
            check: 'the OOM killer of the kernel killed no process',
            ok: oomKills.after === oomKills.before,
            seen: `${String(oomKills.before)} kills before, ${String(oomKills.after)} after`,
          },
        ]),
    {
      check: 'the journal has the decision before the outcome',
      ok: decided >= 0 && decided < ended,
      seen: `${String(records.length)} journal records`,
    },
    ...survivors.map(({ name, answers, end }) => ({
      check: `${name} is alive`,
      ok: answers,
      seen: answers ? 'it answers' : (end ?? 'it does not answer'),
    })),
    ...(recording === undefined
      ? []
      : [
          {
            check: 'evictd wrote the recording',
            ok: recording.problem === undefined,
            seen: recording.problem ?? `written to ${recording.file}`,
          },
        ]),
    { check: 'evictd stopped on request', ok: guardEnd === 'exit code 0', seen: guardEnd },
  ];
}
