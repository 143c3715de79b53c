import type { DemoRecord } from './guard.js';

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
