import type { MemoryHoldings } from '../core/budget/growth-base.js';
import type { Observation, Observations } from '../core/signal/observation.js';
import type { Signal } from '../core/signal/signal.js';
import { initialState, type State } from '../core/decide/state.js';
import type { UnreadableWorkload, Workload, WorkloadStats, WorkloadUsage } from '../core/workload/workload.js';
import type { PolicyAnswers } from '../monitor/ports/policy-port.js';
import type { Wake } from '../monitor/ports/ports.js';
import {
  RECORDING_FORMAT,
  type RecordedCandidates,
  type RecordedStep,
  type RecordingEntry,
  type RecordingHeader,
  type Vetoes,
} from './recording-format.js';
import { isRecord } from '../config/value/document.js';
import { fromJson } from '../storage/tagged-json.js';

type Json = Readonly<Record<string, unknown>>;

/** The error of a line, as a sentence without its place. */
export class RecordingLineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RecordingLineError';
  }
}

export function isHeader(text: string): boolean {
  return text.startsWith('{"evictd":');
}

/** The first line of a run. Throws RecordingLineError. */
export function readHeader(text: string): RecordingHeader {
  return asLineError(() => headerOf(readLine(text)));
}

function headerOf(json: Json): RecordingHeader {
  if (json.evictd !== 'recording') throw new RecordingLineError('this is not a recording of evictd');
  if (json.format !== RECORDING_FORMAT) {
    throw new RecordingLineError(`it has format ${String(json.format)}, and this evictd reads format ${String(RECORDING_FORMAT)}`);
  }
  const { version, node, dryRun, startedAt, startedAtNs, config } = fromJson(json) as Json;
  const isHeader =
    typeof version === 'string' && typeof dryRun === 'boolean' && typeof startedAt === 'string' && typeof startedAtNs === 'bigint';
  if (!isHeader || !isRecord(node) || !isRecord(config)) throw new RecordingLineError('something is missing in the first line');
  return fromJson(json) as RecordingHeader;
}

/** Reads the lines after the first, in order: later ones refer to earlier ones. */
export class RecordingReading {
  readonly #workloads: Workload[] = [];
  readonly #sources = new Map<string, string>();
  #steps = 0;

  /** undefined: the line only defines something. Throws RecordingLineError. */
  entry(text: string): RecordingEntry | undefined {
    return asLineError(() => this.#entry(readLine(text)));
  }

  #entry(json: Json): RecordingEntry | undefined {
    switch (json.kind) {
      case 'policy':
      case 'config':
        if (!isRecord(json[json.kind])) throw new RecordingLineError(`${json.kind} is missing`);
        return fromJson(json) as RecordingEntry;
      case 'state':
        return readState(json);
      case 'end':
        return fromJson(json) as RecordingEntry;
      case 'workload':
        if (json.number !== this.#workloads.length) throw new RecordingLineError(`workload ${String(json.number)} is out of order`);
        this.#workloads.push(readWorkload(json.workload));
        return undefined;
      case 'forget':
        this.#workloads.length = 0;
        return undefined;
      case 'sample':
        return { kind: 'sample', ...this.#candidates(json) };
      case 'step':
        return this.#step(json);
      default:
        throw new RecordingLineError(`its kind is ${JSON.stringify(json.kind)}`);
    }
  }

  #step(json: Json): RecordedStep {
    this.#steps += 1;
    // An older evictd does not number steps.
    if (json.number !== undefined && json.number !== this.#steps) {
      throw new RecordingLineError(
        `it is step ${JSON.stringify(json.number)} of its run, and step ${String(this.#steps)} was expected: lines are missing`,
      );
    }
    const [source, atNs] = listOf(json.wake);
    return {
      kind: 'step',
      ...(typeof json.wallMs === 'number' && { wallMs: json.wallMs }),
      wake: { source: source as Wake['source'], atNs: integer(atNs) },
      input: {
        ...parts<RecordedStep['input']>(json, ['ordered', 'pause', 'request', 'policyResults']),
        nowNs: integer(json.now),
        layout: json.layout as RecordedStep['input']['layout'],
        victims: json.victims === undefined ? new Map() : (fromJson(json.victims) as RecordedStep['input']['victims']),
        reclaimed: fromJson(json.reclaimed) as RecordedStep['input']['reclaimed'],
        // true: of an older evictd
        ...(json.resumed !== undefined && { resumed: json.resumed === true ? {} : (json.resumed as { readonly by?: string }) }),
        ...(json.bootNs !== undefined && { bootNs: integer(json.bootNs) }),
      },
      observations: json.read === undefined ? undefined : this.#observations(recordOf(json.read)),
      candidates: listOf(json.candidates ?? []).map((each) => this.#candidates(recordOf(each))),
      rechecks: listOf(json.rechecks ?? []).map((each) => this.#observations(recordOf(each))),
      ...parts<PolicyAnswers>(json, ['policyReadings', 'policyRecheck', 'policyWorkloads', 'policyProcesses']),
      outside: listOf(json.outside ?? []).map((held) => (held === null ? undefined : (fromJson(held) as MemoryHoldings))),
      decisions: listOf(json.decisions ?? []).map((pair) => {
        const [serial, victim] = listOf(pair);
        return { serial: serial as number, victim: victim as string };
      }),
    };
  }

  #observations({ observed, missing, absent, pending }: Json): Observations {
    const pairs = (list: unknown) => new Map(listOf(list ?? []) as readonly [Signal, string][]);
    return {
      observed: new Map(listOf(observed).map((item) => this.#observation(listOf(item)))),
      missing: pairs(missing),
      ...(absent === undefined ? {} : { absent: pairs(absent) }),
      ...(pending === undefined ? {} : { pending: pairs(pending) }),
    };
  }

  #observation([signal, available, capacity, timeNs, source]: readonly unknown[]): [Signal, Observation] {
    if (typeof signal !== 'string') throw new RecordingLineError('a reading has no signal');
    if (typeof source === 'string') this.#sources.set(signal, source);
    const observation = {
      available: integer(available),
      capacity: integer(capacity),
      timeNs: timeNs === null ? undefined : integer(timeNs),
      source: this.#sources.get(signal) ?? '',
    };
    return [signal as Signal, observation];
  }

  #candidates({ at, usages, managed, unreadable, vetoes, awaited }: Json): RecordedCandidates {
    const usagesIn = (list: unknown): readonly WorkloadUsage[] => listOf(list).map((usage) => this.#usage(listOf(usage)));
    const candidates = {
      usages: usagesIn(usages),
      unreadable: listOf(unreadable ?? []) as readonly UnreadableWorkload[],
      timeNs: integer(at),
    };
    const pairs = listOf(vetoes ?? []).map((pair) => listOf(pair) as [string, unknown]);
    return {
      candidates,
      ...(managed !== undefined && { managed: usagesIn(managed) }),
      vetoes: new Map(pairs.map(([id, protection]) => [id, protection ?? undefined])) as Vetoes,
      awaited: listOf(awaited ?? []).map(String),
    };
  }

  #usage([number, ...values]: readonly unknown[]): WorkloadUsage {
    const workload = this.#workloads[Number(number)];
    if (workload === undefined) throw new RecordingLineError(`workload ${String(number)} was not defined before`);
    return { workload, stats: values.length === 0 ? undefined : readStats(values) };
  }
}

/** The parts of the keys that the line has. */
function parts<T>(json: Json, keys: readonly (keyof T & string)[]): Partial<T> {
  return Object.fromEntries(keys.flatMap((key) => (json[key] === undefined ? [] : [[key, fromJson(json[key])]]))) as Partial<T>;
}

function readStats([workingSet, usage, processes, ephemeralStorage, rest]: readonly unknown[]): WorkloadStats {
  const known = (value: unknown): bigint | undefined => (value === undefined || value === null ? undefined : integer(value));
  return {
    workingSetBytes: known(workingSet),
    usageBytes: known(usage),
    processes: known(processes),
    ephemeralStorageBytes: known(ephemeralStorage),
    ...((rest === undefined ? { containers: [], volumes: [] } : fromJson(rest)) as Pick<WorkloadStats, 'containers' | 'volumes'>),
  };
}

/** The file has no undefined values, and no parts that an older evictd did not have. */
function readState(json: Json): RecordingEntry {
  if (!isRecord(json.state)) throw new RecordingLineError('state is missing');
  const { lost } = json;
  if (typeof lost !== 'number') throw new RecordingLineError('a state does not say how many steps are lost before it');
  const state = fromJson(json.state) as Partial<State>;
  const policies = { ...initialState.policies, ...state.policies };
  return { kind: 'state', state: { ...initialState, ...state, policies }, lost };
}

/** The file has no undefined values. */
function readWorkload(json: unknown): Workload {
  const workload = fromJson(recordOf(json)) as Partial<Workload>;
  if (typeof workload.id !== 'string' || typeof workload.name !== 'string' || typeof workload.path !== 'string' || !workload.requests) {
    throw new RecordingLineError('a workload has no id, name, path or requests');
  }
  return { terminationGracePeriodNs: undefined, protection: undefined, pod: undefined, ...workload } as Workload;
}

function asLineError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RecordingLineError ? error : new RecordingLineError(`the line is not one that evictd writes: ${String(error)}`);
  }
}

function readLine(text: string): Json {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    throw new RecordingLineError(`the line is not a JSON object: ${JSON.stringify(text.slice(0, 40))}`);
  }
}

function integer(value: unknown): bigint {
  if (typeof value !== 'number' && typeof value !== 'string') throw new RecordingLineError(`not an integer: ${JSON.stringify(value)}`);
  return BigInt(value);
}

function recordOf(value: unknown): Json {
  if (!isRecord(value)) throw new RecordingLineError('not an object');
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new RecordingLineError('not a list');
  return value as readonly unknown[];
}
