import type { DBusMessage } from 'dbus-native/lib/message.js';
import { BusPeer } from '../host/linux/systemd/bus-peer.js';

const LOGIN = '/org/freedesktop/login1';

/** A simulated logind, driven by the test, on a bus that only one evictd sees. */
export class PlayedLogin {
  #preparing = false;

  private constructor(readonly peer: BusPeer) {
    peer.answer = ({ member, body }: DBusMessage) => {
      if (member === 'Hello') return { signature: 's', body: [':1.1'] };
      if (member === 'NameHasOwner') return { signature: 'b', body: [true] };
      if (member === 'Get' && body?.[1] === 'PreparingForShutdown') return { signature: 'v', body: [['b', this.#preparing]] };
      if (member === 'Get') return { signature: 'v', body: [['t', 60_000_000]] };
      if (member === 'ListInhibitors') return { signature: 'a(ssssuu)', body: [[]] };
      return { signature: '', body: [] };
    };
  }

  static async open(): Promise<PlayedLogin> {
    return new PlayedLogin(await BusPeer.open());
  }

  /** In a mount namespace. */
  get through(): readonly string[] {
    const bus = `mount -t tmpfs none /run && mkdir /run/dbus && ln -s ${this.peer.path} /run/dbus/system_bus_socket`;
    return ['unshare', '-m', '/bin/sh', '-c', `${bus} && exec "$@"`, 'sh'];
  }

  prepare(begins: boolean): void {
    this.#preparing = begins;
    this.peer.signal('PrepareForShutdown', LOGIN);
  }
}
