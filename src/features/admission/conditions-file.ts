import { closeSync, constants, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import type { ConditionType } from '../../core/signal/signal.js';
import { taintText, type Taint } from '../../core/disruption/taint.js';
import { taintsInForce } from '../../core/disruption/taint-step.js';
import { overwriteSync, replaceFileSync } from '../../storage/directory.js';
import { attempt, EvictdError, errnoName, messageOf } from '../../errors.js';
import type { Log } from '../../log/log.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';
import { conditionsText, presentConditions, type NodeQuery, type PublishedConditions } from './published-conditions.js';

/** A valid file has some hundred bytes; a larger one is not read to its end. */
const MAX_BYTES = 64 * 1024;

export interface ConditionsFileOptions {
  readonly path: string;
  readonly node: string;
  readonly bootId: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** What starts depend on. */
interface NodeState {
  readonly conditions: readonly ConditionType[];
  readonly taints: readonly Taint[];
  readonly monitoringIntervalNs: bigint;
}

/** Conditions, taints or a shutdown have changed; a step has found the same; or only the time is another. */
type Why = 'change' | 'step' | 'time';

/**
 * Publishes the node conditions and taints at every change and at least at every second tick, so that the age of the file shows
 * whether evictd runs. The file is replaced as a whole; only its time is renewed in place. It is removed when evictd stops.
 */
export class ConditionsFile implements StepListener {
  readonly #since = new Map<ConditionType, string>();
  #published: string | undefined;
  #last: (NodeState & { readonly atNs: bigint }) | undefined;
  #shutdownSince: string | undefined;
  #writeFailed = false;

  constructor(private readonly options: ConditionsFileOptions) {}

  stepped({ wake, policy, input, state }: StepReport): void {
    const { monitoringIntervalNs } = policy;
    const now = { conditions: state.conditions, taints: taintsInForce(policy, state), monitoringIntervalNs };
    const changed = textOf(now) !== this.#published;
    const ticked = wake.source === 'tick' || wake.source === 'start' || wake.source === 'reload';
    if (ticked || changed) this.#publish(now, input.nowNs, changed ? 'change' : 'step');
  }

  /** The conditions are still those of the last step. Every second tick is enough: they are current for three. */
  skipped(nowNs: bigint): boolean {
    if (this.#last === undefined) return true;
    const { monitoringIntervalNs, atNs } = this.#last;
    const isCurrent = !this.#writeFailed && (nowNs - atNs) * 2n < monitoringIntervalNs * 3n;
    if (!isCurrent) this.#publish(this.#last, nowNs, 'time');
    return true;
  }

  shuttingDown(lasts: boolean): void {
    this.#shutdownSince = lasts ? new Date().toISOString() : undefined;
    if (this.#last) this.#publish(this.#last, process.hrtime.bigint(), 'change');
  }

  close(): void {
    this.#last = undefined;
    removeQuietly(this.options.path);
  }

  #publish({ conditions, taints, monitoringIntervalNs }: NodeState, nowNs: bigint, why: Why): void {
    const { node, bootId } = this.options;
    this.#date(conditions);
    this.#last = { conditions, taints, monitoringIntervalNs, atNs: nowNs };
    this.#published = textOf(this.#last);
    this.#write(why, {
      node,
      pid: process.pid,
      bootId,
      updatedNs: nowNs,
      updated: new Date().toISOString(),
      monitoringIntervalNs,
      conditions: conditions.map((type) => ({ type, since: this.#since.get(type) ?? '' })),
      ...(taints.length > 0 && { taints }),
      ...(this.#shutdownSince === undefined ? {} : { shutdown: { since: this.#shutdownSince } }),
    });
  }

  #date(conditions: readonly ConditionType[]): void {
    for (const type of [...this.#since.keys()]) if (!conditions.includes(type)) this.#since.delete(type);
    for (const type of conditions) if (!this.#since.has(type)) this.#since.set(type, new Date().toISOString());
  }

  /** A file that is out of date is removed, rather than left until it expires. Tried again at the next tick. */
  #write(why: Why, published: PublishedConditions): void {
    const { path, log } = this.options;
    const text = conditionsText(published);
    try {
      if (why !== 'time' || this.#writeFailed || !overwriteSync(path, text)) replaceFileSync(path, text, 0o644);
      if (this.#writeFailed) log.info(`the node conditions are published again: ${path}`);
      this.#writeFailed = false;
    } catch (error) {
      if (why === 'change') removeQuietly(path);
      if (this.#writeFailed) return;
      this.#writeFailed = true;
      log.warn(`cannot publish the node conditions: ${messageOf(error)}; evictd admit cannot use them until evictd can write the file`, {
        code: 'EVICTD_CONDITIONS_WRITE',
      });
    }
  }
}

function textOf({ conditions, taints }: Pick<NodeState, 'conditions' | 'taints'>): string {
  return [...conditions, ...taints.map(taintText)].join();
}

/**
 * The conditions that a running evictd has published, if they are current. Never waits: only a regular file is read.
 *
 * @throws EvictdError  absent, unreadable, malformed, of another node or too old
 */
export function readConditions(path: string, query: Omit<NodeQuery, 'nowNs'>): PublishedConditions {
  const text = readFile(path, query.node);
  return presentConditions(text, { ...query, nowNs: process.hrtime.bigint() });
}

/** Reads until two readings agree: evictd may be renewing the time. */
function readFile(path: string, node: string): string {
  let text = readOnce(path, node);
  for (let again = readOnce(path, node); again !== text; again = readOnce(path, node)) text = again;
  return text;
}

function readOnce(path: string, node: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (!fstatSync(descriptor).isFile()) throw unreadable(path, 'not a regular file');
    const buffer = Buffer.alloc(MAX_BYTES);
    let length = 0;
    for (let read = -1; read !== 0 && length < MAX_BYTES; length += read) {
      read = readSync(descriptor, buffer, length, MAX_BYTES - length, null);
    }
    return buffer.toString('utf8', 0, length);
  } catch (error) {
    if (error instanceof EvictdError) throw error;
    if (errnoName(error) === 'ENOENT') {
      throw new EvictdError('EVICTD_CONDITIONS_ABSENT', `the node conditions are not known: no evictd guards the node (${node})`, {
        hint: `start evictd, or name its configuration with --config; looked for ${path}`,
      });
    }
    throw unreadable(path, messageOf(error), error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function unreadable(path: string, reason: string, cause?: unknown): EvictdError {
  return new EvictdError('EVICTD_CONDITIONS_UNREADABLE', `cannot read the node conditions: ${path}: ${reason}`, {
    hint: "the runtime directory is root's: in a unit with User= write ExecCondition=+…",
    ...(cause === undefined ? {} : { cause }),
  });
}

function removeQuietly(path: string): void {
  attempt(() => {
    rmSync(path, { force: true }); // else it soon expires
  });
}
