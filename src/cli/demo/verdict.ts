import type { DemoRecord } from './guard.js';

/** What the demo has seen at its end. */
export interface DemoFacts {
  readonly records: readonly DemoRecord[];
  /** undefined: there is no OOM killer. */
  readonly oomKills: { readonly before: number; readonly after: number } | undefined;
  /** Processes left of the workload that leaked. */
  readonly leakingProcesses: number;
  readonly survivors: readonly { readonly name: string; readonly answers: boolean; readonly end: string | undefined }[];
  /** undefined: none was wanted. `problem`: what evictd said about it; undefined: nothing. */
  readonly recording?: { readonly file: string; readonly problem: string | undefined };
  /** How evictd ended when it was asked to. */
  readonly guardEnd: string;
}

export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly seen: string;
}

/** What has to be true for the demo to have shown what it promises; each with what was seen. */
export function verdict(facts: DemoFacts, leaking: string): Check[] {
  const { records, oomKills, leakingProcesses, survivors, recording, guardEnd } = facts;
  const decided = records.findIndex(({ type, victim }) => type === 'decision' && victim?.name === leaking);
  const ended = records.findIndex(({ type, victim }) => type === 'outcome' && victim?.name === leaking);
  const outcome = records[ended];
  const others = records.filter(({ type, victim }) => type === 'decision' && victim?.name !== leaking);
  return [
    {
      check: `${leaking} was evicted by evictd`,
      ok: outcome?.result === 'killed' && leakingProcesses === 0,
      seen: outcome?.message ?? 'the journal has no outcome',
    },
    {
      check: 'nobody else was',
      ok: others.length === 0,
      seen: others.length === 0 ? 'no other decision in the journal' : others.map(({ message }) => message).join('; '),
    },
    ...(oomKills === undefined
      ? []
      : [
          {
            check: 'before the kernel: its OOM killer killed nobody',
            ok: oomKills.after === oomKills.before,
            seen: `${String(oomKills.before)} kills before, ${String(oomKills.after)} after`,
          },
        ]),
    {
      check: 'the decision was recorded before what came of it',
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
      : [{ check: 'it was recorded', ok: recording.problem === undefined, seen: recording.problem ?? `written to ${recording.file}` }]),
    { check: 'evictd stopped when asked', ok: guardEnd === 'exit code 0', seen: guardEnd },
  ];
}
