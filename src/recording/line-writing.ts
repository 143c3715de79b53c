import { jsonInteger } from '../core/quantity/integer.js';
import type { Observation, Observations } from '../core/signal/observation.js';
import type { WorkloadStats, WorkloadUsage } from '../core/workload/workload.js';
import type { RecordedCandidates, RecordedStep, RecordingEntry, RecordingHeader } from './recording-format.js';
import { toJson } from '../storage/tagged-json.js';

/**
 * How many workloads a file knows by number. Beyond it all are forgotten: where workloads come and go, the map must not
 * grow without limit.
 */
const MAX_KNOWN = 16_384;

/** A change of the wall clock by more than this is written. */
const CLOCK_NOTED_MS = 1_000;

function aheadMs(wallMs: number, atNs: bigint): number {
  return wallMs - Number(atNs) / 1e6;
}

/**
 * Writes the entries of one file, a line each. A workload is written once, and by its number after that; the source of
 * a reading is written when it changes. This keeps the line of a quiet step short.
 */
export class RecordingWriting {
  readonly #workloads = new Map<string, number>();
  readonly #sources = new Map<string, string>();
  #steps = 0;
  /** The wall clock less the monotonic one, as the file has it. */
  #aheadMs = 0;

  header(header: RecordingHeader): string {
    this.#aheadMs = aheadMs(Date.parse(header.startedAt), header.startedAtNs);
    return line({ evictd: 'recording', ...(toJson(header) as object) });
  }

  /** One or more lines: definitions come before their first use. */
  entry(entry: RecordingEntry): string {
    switch (entry.kind) {
      case 'policy':
      case 'config':
      case 'state':
      case 'end':
        return line(toJson(entry));
      case 'sample':
        return this.#withDefinitions([entry], ([candidates]) => line({ kind: 'sample', ...(candidates as object) }));
      case 'step':
        return this.#withDefinitions(entry.candidates, (candidates) => this.#step(entry, candidates));
    }
  }

  /** The wall clock was set, or the machine has slept. */
  #isClockChanged({ wallMs, input: { nowNs } }: RecordedStep): boolean {
    if (wallMs === undefined || Math.abs(aheadMs(wallMs, nowNs) - this.#aheadMs) <= CLOCK_NOTED_MS) return false;
    this.#aheadMs = aheadMs(wallMs, nowNs);
    return true;
  }

  #step(entry: RecordedStep, candidates: readonly unknown[]): string {
    const { wallMs, wake, input, observations, rechecks, outside, decisions } = entry;
    const { policyReadings, policyRecheck, policyWorkloads, policyProcesses } = entry;
    const { nowNs, layout, victims, reclaimed, ordered, resumed, pause, request, bootNs, policyResults } = input;
    this.#steps += 1;
    return line({
      kind: 'step',
      number: this.#steps,
      now: jsonInteger(nowNs),
      ...(this.#isClockChanged(entry) && { wallMs }),
      wake: [wake.source, jsonInteger(wake.atNs)],
      layout,
      ...(observations && { read: this.#observations(observations) }),
      ...(victims.size > 0 && { victims: toJson(victims) }),
      ...(toJson({ reclaimed, ordered, resumed, pause, request }) as object),
      ...(bootNs !== undefined && { bootNs: jsonInteger(bootNs) }),
      ...(candidates.length > 0 && { candidates }),
      ...(rechecks.length > 0 && { rechecks: rechecks.map((seen) => this.#observations(seen)) }),
      ...(toJson({ policyReadings, policyRecheck, policyWorkloads, policyProcesses, policyResults }) as object),
      ...(outside.length > 0 && { outside: outside.map((held) => toJson(held) ?? null) }),
      ...(decisions.length > 0 && { decisions: decisions.map(({ serial, victim }) => [serial, victim]) }),
    });
  }

  #observations({ observed, missing, absent, pending }: Observations): unknown {
    return {
      observed: [...observed].map(([signal, observation]) => [signal, ...this.#observation(signal, observation)]),
      ...(missing.size > 0 && { missing: [...missing] }),
      ...(absent && absent.size > 0 && { absent: [...absent] }),
      ...(pending && pending.size > 0 && { pending: [...pending] }),
    };
  }

  #observation(signal: string, { available, capacity, timeNs, source }: Observation): unknown[] {
    const values = [jsonInteger(available), jsonInteger(capacity), timeNs === undefined ? null : jsonInteger(timeNs)];
    if (this.#sources.get(signal) === source) return values;
    this.#sources.set(signal, source);
    return [...values, source];
  }

  #withDefinitions(recorded: readonly RecordedCandidates[], write: (candidates: readonly unknown[]) => string): string {
    const lines: string[] = [];
    if (this.#workloads.size > MAX_KNOWN) {
      this.#workloads.clear();
      lines.push(line({ kind: 'forget' }));
    }
    const candidates = recorded.map((each) => this.#candidates(each, lines));
    return lines.join('') + write(candidates);
  }

  #candidates({ candidates: { usages, unreadable, timeNs }, managed, vetoes, awaited }: RecordedCandidates, lines: string[]): unknown {
    return {
      at: jsonInteger(timeNs),
      usages: usages.map((usage) => this.#usage(usage, lines)),
      ...(managed && { managed: managed.map((usage) => this.#usage(usage, lines)) }),
      ...(unreadable.length > 0 && { unreadable }),
      ...(awaited.length > 0 && { awaited }),
      ...(vetoes.size > 0 && { vetoes: [...vetoes].map(([id, protection]) => [id, protection ?? null]) }),
    };
  }

  #usage({ workload, stats }: WorkloadUsage, lines: string[]): unknown[] {
    const text = JSON.stringify(toJson(workload));
    let number = this.#workloads.get(text);
    if (number === undefined) {
      number = this.#workloads.size;
      this.#workloads.set(text, number);
      lines.push(`{"kind":"workload","number":${String(number)},"workload":${text}}\n`);
    }
    return stats === undefined ? [number] : [number, ...statsValues(stats)];
  }
}

/** A workload of the machine has four values; those that only a pod has follow. */
function statsValues({ workingSetBytes, usageBytes, processes, ephemeralStorageBytes, ...rest }: WorkloadStats): unknown[] {
  const values: unknown[] = [workingSetBytes, usageBytes, processes, ephemeralStorageBytes].map((value) =>
    value === undefined ? null : jsonInteger(value),
  );
  const { containers, volumes, ...more } = rest;
  const isPlain = containers.length === 0 && volumes.length === 0 && Object.keys(more).length === 0;
  if (!isPlain) return [...values, toJson(rest)];
  while (values.length > 1 && values.at(-1) === null) values.pop();
  return values;
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
