import { type BusCall, type BusReply, MANAGER, PROPERTIES, SYSTEMD } from './bus-connection.js';
import type { BusLink } from './bus-link.js';

const NO_SUCH_UNIT = `${SYSTEMD}.NoSuchUnit`;

/**
 * The names that a loaded unit has or gives in its dependencies; systemd keeps each dependency at both units. Empty: it
 * is not loaded any more. undefined: unknown. A call for the properties alone would load a unit, and systemd would signal
 * it as new.
 */
export function askForNames(link: Pick<BusLink, 'call'>, unit: string, done: (names: ReadonlySet<string> | undefined) => void): void {
  const ask = (call: BusCall, answered: (value: unknown) => void): void => {
    const isSent = link.call(call, (reply) => {
      if (reply.ok) answered(reply.body[0]);
      else done(reply.name === NO_SUCH_UNIT ? new Set() : undefined);
    });
    if (!isSent) done(undefined);
  };
  ask({ ...MANAGER, member: 'GetUnit', signature: 's', body: [unit] }, (path) => {
    const all = { path: String(path), interface: PROPERTIES, destination: SYSTEMD, member: 'GetAll', signature: 's', body: [`${SYSTEMD}.Unit`] };
    ask(all, (properties) => {
      done(new Set([unit, ...Object.values(properties ?? {}).flat().filter((value) => typeof value === 'string')]));
    });
  });
}
