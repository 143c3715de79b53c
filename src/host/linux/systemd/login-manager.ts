import { type BusAddress, type BusCall, type BusReply, PROPERTIES } from './bus-connection.js';
import { BusLink } from './bus-link.js';

export const LOGIN = 'org.freedesktop.login1';
/** logind is on the bus only. */
export const SYSTEM_BUS = '/run/dbus/system_bus_socket';
const LOGIN_MANAGER = { path: '/org/freedesktop/login1', interface: `${LOGIN}.Manager`, destination: LOGIN };

const BUS = 'org.freedesktop.DBus';
/** Whether logind runs. The bus would start it for any other call. */
export const HAS_LOGIN: BusCall = {
  path: '/org/freedesktop/DBus',
  interface: BUS,
  destination: BUS,
  member: 'NameHasOwner',
  signature: 's',
  body: [LOGIN],
};
const GET_PREPARING = managerProperty('PreparingForShutdown');
const SIGNALS = ['PrepareForShutdown', 'NameOwnerChanged'];
const RULES = [
  `type='signal',sender='${LOGIN}',path='${LOGIN_MANAGER.path}',interface='${LOGIN_MANAGER.interface}',member='PrepareForShutdown'`,
  `type='signal',sender='${BUS}',interface='${BUS}',member='NameOwnerChanged',arg0='${LOGIN}'`,
];

/** Any user can send signals at any rate, and each is a reason to ask. */
const PAUSE_MS = 100;

export interface LoginView {
  /** Monotonic, before the call. */
  readonly requestedAtNs: bigint;
  /** The machine is about to go down. */
  readonly preparing: boolean;
  /** The reasons of all locks (delay or block), as their holders gave them. */
  readonly inhibitors: ReadonlySet<string>;
}

interface LoginEvents {
  readonly seen: (view: LoginView) => void;
  /** It does not run, or there is no bus. `seen` follows when that is over. */
  readonly unavailable: (reason: string) => void;
  /** It did not answer the question. */
  readonly refused: (reason: string) => void;
}

/**
 * logind, asked again when logind or the bus has started and when a shutdown begins or is cancelled. The content of a
 * signal does not count, because any user can forge one; an answer comes from logind.
 */
export class LoginManager {
  readonly #events: LoginEvents;
  readonly #link: BusLink;
  #looks = false;
  #again = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(path: string, events: LoginEvents) {
    this.#events = events;
    const address: BusAddress = { path, daemon: true, rules: RULES };
    // Its events come after the constructor.
    this.#link = new BusLink([address], SIGNALS, {
      up: () => {
        this.look();
      },
      down: (reason) => {
        this.#events.unavailable(`cannot ask logind: ${reason}`);
      },
      signal: () => {
        this.look();
      },
    });
  }

  /** Asks after the pending answer and a pause. */
  look(): void {
    this.#again = this.#looks || this.#pause !== undefined;
    if (this.#again) return;
    this.#looks = this.#link.call(HAS_LOGIN, (reply) => {
      if (!reply.ok) this.#refused(reply);
      else if (reply.body[0] === true) this.#ask();
      else
        this.#end(() => {
          this.#events.unavailable('logind does not run');
        });
    });
  }

  close(): void {
    clearTimeout(this.#pause);
    this.#link.close();
  }

  #ask(): void {
    const requestedAtNs = process.hrtime.bigint();
    this.#call(GET_PREPARING, ([preparing]) => {
      this.#call({ ...LOGIN_MANAGER, member: 'ListInhibitors' }, ([list]) => {
        this.#end(() => {
          this.#events.seen({ requestedAtNs, preparing: preparing === true, inhibitors: reasonsOf(list) });
        });
      });
    });
  }

  #call(call: BusCall, then: (body: readonly unknown[]) => void): void {
    const isSent = this.#link.call(call, (reply) => {
      if (reply.ok) then(reply.body);
      else this.#refused(reply);
    });
    if (!isSent) this.#refused(undefined);
  }

  /** An error without a name means that the connection is lost, which `down` reports. */
  #refused(reply: Extract<BusReply, { ok: false }> | undefined): void {
    this.#end(() => {
      if (reply?.name !== undefined) this.#events.refused(`cannot ask logind: ${reply.message}`);
    });
  }

  #end(tell: () => void): void {
    this.#looks = false;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#again) this.look();
    }, PAUSE_MS);
    this.#pause.unref();
    tell();
  }
}

/** 'a(ssssuu)': what, who, why, mode, uid, pid. */
function reasonsOf(list: unknown): ReadonlySet<string> {
  if (!Array.isArray(list)) return new Set();
  return new Set(list.map((lock: unknown) => (Array.isArray(lock) ? String(lock[2]) : '')));
}

export function managerProperty(name: string): BusCall {
  return { ...LOGIN_MANAGER, interface: PROPERTIES, member: 'Get', signature: 'ss', body: [LOGIN_MANAGER.interface, name] };
}
