import type { OperatorRequest } from '../../core/disruption/operator-request.js';
import type { PauseRequest } from '../../core/pause/operator-pause.js';
import type { NotifierMechanism } from '../../core/threshold/notifier-state.js';

/** What wakes the loop, and when the native layer saw it (monotonic clock). */
export interface Wake {
  readonly source: WakeSource;
  readonly atNs: bigint;
  /** No threshold is crossed yet, but one may be within milliseconds. */
  readonly approaching?: true | undefined;
  /** For memory.events and memory.oom_control: the counters that moved, with the kernel's names. */
  readonly counters?: readonly string[];
  /** The pause that an operator requested. */
  readonly pause?: PauseRequest;
  readonly request?: OperatorRequest;
  /** The user who requested `resume`, as in DisruptionCause. */
  readonly by?: string | undefined;
}
export type WakeSource =
  | NotifierMechanism
  | 'start'
  | 'tick'
  | 'look'
  | 'deadline'
  | 'victim'
  | 'reload'
  | 'resume'
  | 'pause'
  | 'request'
  | 'filesystem'
  | 'reclaim'
  | 'policy'
  | 'watchdog'
  | 'standing_order';

/** Whether an operator asked: such a wake waits for nothing. */
export function isOfOperator({ source }: Pick<Wake, 'source'>): boolean {
  return source === 'pause' || source === 'resume' || source === 'request';
}
