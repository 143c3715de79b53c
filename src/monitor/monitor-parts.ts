import type { Journal } from '../journal/journal.js';
import type { StateKeeper } from '../state/state-keeper.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { BeforeSignal } from './ports/before-signal.js';
import type { Evictor, Heartbeat, Node, Reclaimer, StepListener, WorkloadSource } from './ports/ports.js';
import type { PolicyPort } from './ports/policy-port.js';
import type { ProcessRecords } from './ports/process-records.js';
import type { Reporter } from './reporter.js';
import type { StandingOrders } from './standing-orders.js';
import type { Releases } from './unit-releases.js';

/** What the loop reads, acts and reports with. */
export interface MonitorParts {
  /** CLOCK_BOOTTIME. */
  readonly bootNs: () => bigint;
  readonly node: Node;
  readonly workloads: WorkloadSource;
  readonly evictor: Evictor;
  readonly reclaimer: Reclaimer;
  /** Starts units that were kept stopped. Left out: there is no systemd. */
  readonly releases?: Releases;
  /** Left out: nothing happens before a signal. */
  readonly beforeSignal?: BeforeSignal;
  /** Left out: what holds memory outside the workloads cannot be read. */
  readonly outside?: NonNullable<StepInput['outside']>;
  /** Left out: there are no policies. */
  readonly policies?: PolicyPort;
  /** Left out: processes cannot be read here. */
  readonly processes?: ProcessRecords | undefined;
  readonly journal: Journal;
  readonly keeper: StateKeeper;
  readonly reporter: Reporter;
  readonly listeners: readonly StepListener[];
  readonly heartbeat: Heartbeat;
  /** Left out: a dry run, or a system without them. */
  readonly orders?: StandingOrders;
}
