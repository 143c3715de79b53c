import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { errnoName, errnoText, messageOf } from '../../../errors.js';
import type { WatchStatus, OnWake, Watch } from '../../../native/binding.js';
import type { NotifierMechanism, NotifierState } from '../../../monitor/ports/ports.js';

/** Why a watch is not live, and the remedy. */
export interface WatchFailure {
  readonly reason: string;
  readonly hint: string | undefined;
}

/** Why the kernel refused a watch. */
export function refusal(error: unknown): WatchFailure {
  const reason = messageOf(error);
  switch (errnoName(error)) {
    case 'EACCES':
    case 'EPERM':
      return { reason, hint: 'run evictd as root, or give it write access to this file' };
    case 'EROFS':
      return { reason, hint: 'mount the cgroup filesystem writable: in a container it is read-only by default' };
    case 'EMFILE':
    case 'ENFILE':
      return { reason, hint: 'raise the limit of open files (LimitNOFILE)' };
    default:
      return { reason, hint: undefined };
  }
}

const { ENODEV, ENOENT } = constants.errno;

/** Why a live watch has ended. */
export function ending({ target, errno }: Pick<WatchStatus, 'target' | 'errno'>): WatchFailure {
  if (errno === 0 || errno === ENODEV || errno === ENOENT) return { reason: 'the watched file was removed', hint: undefined };
  return refusal(Object.assign(new Error(`${target}: ${errnoText(errno)}`), { code: getSystemErrorName(-errno), syscall: 'read' }));
}

/** The owner adds the signal. */
export type SlotState = Omit<NotifierState, 'signal'>;

/** `detail`: the bits of this kind of watch. `approaching`: see Wake. */
export type SlotWake = (mechanism: NotifierMechanism, atNs: bigint, detail: number, approaching?: true) => void;

/** A watch that should be live: opened, moved and reopened as needed. */
export class WatchSlot<W extends Watch = Watch> {
  #watch: W | undefined;
  #failure: WatchFailure | undefined;
  /** What the live watch waits for. */
  #aim = '';

  /** @param gone  the bit of a wake for a vanished source */
  constructor(
    readonly mechanism: NotifierMechanism,
    private readonly gone: number,
    private readonly wake: SlotWake,
  ) {}

  get watch(): W | undefined {
    return this.#watch?.live === true ? this.#watch : undefined;
  }

  get live(): boolean {
    return this.watch !== undefined;
  }

  get failure(): WatchFailure | undefined {
    return this.live ? undefined : this.#failure;
  }

  /** Whether a live watch waits for exactly this. */
  aimsAt(aim: string): boolean {
    return this.live && this.#aim === aim;
  }

  /**
   * Opens the new watch before it closes the old one, so that no crossing falls between. On failure the old one stays.
   */
  open(aim: string, open: (onWake: OnWake) => W, explain: (error: unknown) => WatchFailure): boolean {
    const old = this.#watch;
    try {
      this.#watch = open((wake, atNs, detail) => this.#onWake(wake, atNs, detail));
    } catch (error) {
      this.#failure = explain(error);
      return false;
    }
    old?.close();
    this.#aim = aim;
    this.#failure = undefined;
    return true;
  }

  moved(aim: string): void {
    this.#aim = aim;
  }

  state(target: string, essential: boolean): SlotState {
    const { live, failure } = this;
    return { mechanism: this.mechanism, target, live, reason: failure?.reason, hint: failure?.hint, essential };
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#failure = undefined;
  }

  fail(failure: WatchFailure): void {
    this.close();
    this.#failure = failure;
  }

  #onWake(wake: number, atNs: bigint, detail: number): void {
    if ((wake & this.gone) !== 0 && this.#watch?.live === false) this.#failure = ending(this.#watch.status());
    this.wake(this.mechanism, atNs, detail);
  }
}
