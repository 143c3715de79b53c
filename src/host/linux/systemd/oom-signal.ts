import type { BusAddress } from './bus-connection.js';
import { BusLink } from './bus-link.js';

const NAME = 'org.freedesktop.oom1';
const SYSTEM_BUS: BusAddress = { path: '/run/dbus/system_bus_socket', daemon: true, rules: [] };
const BUS = { path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus', destination: 'org.freedesktop.DBus' };
/** DBUS_NAME_FLAG_DO_NOT_QUEUE (D-Bus specification, "RequestName"). */
const DO_NOT_QUEUE = 4;
const PRIMARY_OWNER = 1;
const ALREADY_OWNER = 4;

/** Sends systemd-oomd's signal (org.freedesktop.oom1(5)) on the system bus. */
export class OomSignal {
  readonly #link: BusLink;

  /**
   * @param ownsName  requests the bus name, if it is free: some listeners match the sender
   * @param onRefused  the name cannot be had, with the reason; at each connection
   */
  constructor(ownsName: boolean, onRefused: (why: string) => void, address: BusAddress = SYSTEM_BUS) {
    this.#link = new BusLink([{ ...address, rules: [] }], [], {
      up: () => {
        if (ownsName) this.#request(onRefused);
      },
      signal: () => undefined,
    });
  }

  /** The error; undefined: it is sent. Never waits or throws. */
  killed(cgroup: string, reason: string): string | undefined {
    const signal = {
      path: '/org/freedesktop/oom1',
      interface: `${NAME}.Manager`,
      member: 'Killed',
      signature: 'ss',
      body: [cgroup, reason],
    };
    return this.#link.emit(signal) ? undefined : (this.#link.lastError ?? 'the system bus is not connected');
  }

  close(): void {
    this.#link.close();
  }

  #request(onRefused: (why: string) => void): void {
    this.#link.call({ ...BUS, member: 'RequestName', signature: 'su', body: [NAME, DO_NOT_QUEUE] }, (reply) => {
      if (!reply.ok) onRefused(reply.message);
      else if (![PRIMARY_OWNER, ALREADY_OWNER].includes(Number(reply.body[0]))) onRefused('another program owns it');
    });
  }
}
