import type { InhibitDelay } from '../../../core/inhibit-delay.js';
import { BusConnection, type BusCall, type BusReply } from './bus-connection.js';
import { PROPERTIES } from './names.js';

const NS_PER_US = 1_000n;
const NS_PER_MS = 1_000_000n;
const LOGIN = 'org.freedesktop.login1';
/** logind is on the bus only. */
const BUS = '/run/dbus/system_bus_socket';
const ANSWER_WITHIN_NS = 10_000_000_000n;

/** Asks logind once, where it runs: the bus would start it for who asks. */
export function readInhibitDelay(path = BUS, withinNs = ANSWER_WITHIN_NS): Promise<InhibitDelay> {
  return new Promise((resolve) => {
    const end = (answer: InhibitDelay): void => {
      clearTimeout(timer);
      connection.close();
      resolve(answer);
    };
    const unknown = (reason: string): void => {
      end({ kind: 'unknown', reason });
    };
    const ask = (call: BusCall, then: (body: readonly unknown[]) => void): void => {
      connection.call(call, (reply: BusReply) => {
        if (reply.ok) then(reply.body);
        else unknown(`logind cannot be asked: ${reply.message}`);
      });
    };
    const timer = setTimeout(
      () => {
        unknown('logind has not answered');
      },
      Number(withinNs / NS_PER_MS),
    );
    const connection = new BusConnection({ path, daemon: true }, [], {
      up: () => {
        ask(HAS_LOGIN, ([isThere]) => {
          if (isThere !== true) unknown('logind does not run: nothing makes a shutdown wait');
          else
            ask(GET, ([us]) => {
              if (typeof us === 'bigint') end({ kind: 'known', maxNs: us * NS_PER_US });
              else unknown('logind does not tell it');
            });
        });
      },
      down: (reason) => {
        unknown(`logind cannot be asked: ${reason}`);
      },
      signal: () => undefined,
    });
  });
}

const HAS_LOGIN: BusCall = {
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  destination: 'org.freedesktop.DBus',
  member: 'NameHasOwner',
  signature: 's',
  body: [LOGIN],
};

const GET: BusCall = {
  path: '/org/freedesktop/login1',
  interface: PROPERTIES,
  destination: LOGIN,
  member: 'Get',
  signature: 'ss',
  body: [`${LOGIN}.Manager`, 'InhibitDelayMaxUSec'],
};
