import { type BusCall, MANAGER, PROPERTIES, SYSTEMD } from '../bus-connection.js';
import type { BusLink } from '../bus-link.js';

/** If more new units appear within WITHIN_NS, the others are not looked at. */
const MAX_NEW = 8;
const WITHIN_NS = 10_000_000_000n;
/** systemd.unit(5), "Description". Anyone may send a signal. */
const NAME = /^[\w:.\\@-]{1,255}$/;
const NO_SUCH_UNIT = `${SYSTEMD}.NoSuchUnit`;

/** Units that systemd has just loaded, and the units that they depend on: systemd keeps each dependency at both units. */
export class NewUnits {
  /** Those of which systemd has not answered yet, with the time when they appeared. */
  readonly #asked = new Map<string, bigint>();
  /** When the last ones appeared. */
  #timesNs: readonly bigint[] = [];

  /**
   * @param named  the names that a new unit has and those of the units that it depends on; empty: systemd has unloaded
   * it again; undefined: unknown
   */
  constructor(
    private readonly link: Pick<BusLink, 'call'>,
    private readonly named: (names: ReadonlySet<string> | undefined) => void,
  ) {}

  /** When the latest of those appeared of which systemd has not answered yet. */
  get askedNs(): bigint {
    let newestNs = 0n;
    for (const ns of this.#asked.values()) if (ns > newestNs) newestNs = ns;
    return newestNs;
  }

  appeared(name: string, nowNs: bigint): void {
    this.#timesNs = this.#timesNs.filter((ns) => nowNs - ns < WITHIN_NS);
    const isAsked = this.#asked.has(name);
    if (!NAME.test(name) || (!isAsked && this.#timesNs.length >= MAX_NEW)) {
      this.named(undefined);
      return;
    }
    this.#asked.set(name, nowNs);
    if (isAsked) return;
    this.#timesNs = [...this.#timesNs, nowNs];
    this.#ask(name, nowNs);
  }

  #ask(name: string, atNs: bigint): void {
    askForNames(this.link, name, (names) => {
      const newestNs = this.#asked.get(name) ?? atNs;
      if (names !== undefined && newestNs !== atNs) {
        this.#ask(name, newestNs); // it has appeared again meanwhile
      } else {
        this.#asked.delete(name);
      }
      this.named(names);
    });
  }
}

/** GetUnit comes first: a call for the properties alone would load a unit, and systemd would signal it as new. */
function askForNames(link: Pick<BusLink, 'call'>, unit: string, done: (names: ReadonlySet<string> | undefined) => void): void {
  const ask = (call: BusCall, answered: (value: unknown) => void): void => {
    const isSent = link.call(call, (reply) => {
      if (reply.ok) answered(reply.body[0]);
      else done(reply.name === NO_SUCH_UNIT ? new Set() : undefined);
    });
    if (!isSent) done(undefined);
  };
  ask({ ...MANAGER, member: 'GetUnit', signature: 's', body: [unit] }, (path) => {
    const to = { path: String(path), interface: PROPERTIES, destination: SYSTEMD };
    ask({ ...to, member: 'GetAll', signature: 's', body: [`${SYSTEMD}.Unit`] }, (properties) => {
      const isKnown = typeof properties === 'object' && properties !== null;
      done(
        isKnown
          ? new Set([
              unit,
              ...Object.values(properties)
                .flat()
                .filter((value) => typeof value === 'string'),
            ])
          : undefined,
      );
    });
  });
}
