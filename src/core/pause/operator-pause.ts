import { jsonBytes } from '../name/json-text.js';

export interface PauseRequest {
  readonly forNs: bigint;
  readonly reason: string;
  /** Left out: nothing is evicted. */
  readonly workload?: PausedWorkload;
  /** As in DisruptionCause. */
  readonly by?: string | undefined;
}

export interface PausedWorkload {
  readonly name: string;
  /** The path as in Workload: it stays the same when the workload is started again. */
  readonly path: string;
}

/** A pause of evictions by an operator. CLOCK_BOOTTIME counts the machine's sleep, and the wall clock does not change it. */
export interface OperatorPause extends Omit<PauseRequest, 'forNs'> {
  readonly beganBootNs: bigint;
  readonly endsBootNs: bigint;
  /** When it began, on the monotonic clock. */
  readonly atNs: bigint;
}

/** Pauses by path of the workload; '': the pause of all evictions. */
export type OperatorPauses = ReadonlyMap<string, OperatorPause>;

export const EVERYTHING = '';

/** The limit in UTF-8, about as saved: the rest of the state shares the file, and must fit as well. */
const MAX_BYTES = 16 * 1024;
/** Two paths and four times have more. */
const FIXED_BYTES = 150;

/** Whether the saved state has room for one more pause. It always has for that of everything. */
export function hasRoomFor(pauses: OperatorPauses, request: PauseRequest): boolean {
  if (request.workload === undefined) return true;
  const others = [...pauses.values()].filter(({ workload }) => workload !== undefined && workload.path !== request.workload?.path);
  const bytes = [...others, request].map(({ by, reason, workload }) => FIXED_BYTES + jsonBytes([by, reason, workload, workload?.path]));
  return bytes.reduce((sum, each) => sum + each, 0) <= MAX_BYTES;
}

/** The pause of all evictions; undefined: there is none. */
export function fullPause(pauses: OperatorPauses): OperatorPause | undefined {
  return pauses.get(EVERYTHING);
}

/** How a pause ends without `evictd resume`. `limit`: the configuration permits no longer one. */
export type PauseEnd = 'time' | 'limit';
