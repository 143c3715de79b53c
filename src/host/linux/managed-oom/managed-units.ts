import {
  isManaged,
  MANAGED_DETAILS,
  MANAGED_MODES,
  managedUnit,
  type ManagedProperties,
  type ManagedProperty,
  type ManagedUnit,
} from '../../../core/systemd/managed-unit.js';
import { type BusAddress, MANAGER, PROPERTIES, SYSTEMD } from '../systemd/bus-connection.js';
import { BusLink } from '../systemd/bus-link.js';
import { unitPath } from '../systemd/units/unit-reading.js';

/** systemd-oomd takes an inactive unit for an unmanaged one. */
const STATES = ['active', 'reloading', 'refreshing', 'activating', 'deactivating'];
/** The interface of the units that may be managed, by the end of their names. */
const INTERFACES: ReadonlyMap<string, string> = new Map(['Service', 'Scope', 'Slice'].map((kind) => [kind.toLowerCase(), kind]));
/** Units that are read at a time, to leave systemd time for other work. */
const READING_AT_ONCE = 8;
/** systemd does not signal `systemctl set-property`, so units are read again once they are this old. */
const OLD_NS = 30_000_000_000n;
/** A request without an answer for so long is lost. */
const ANSWERED_WITHIN_NS = 10_000_000_000n;
/** A start causes many signals. */
const PAUSE_MS = 200;
/** The maximum number of units of a user that are read. */
const MAX_PER_USER = 512;

interface Entry {
  readonly name: string;
  unit: ManagedUnit | undefined;
  /** When the last reading began. */
  askedAtNs: bigint;
  stale: boolean;
  isAsked: boolean;
}

/** The managed units of one service manager, followed over its D-Bus. No method waits. */
export class ManagedUnits {
  readonly #link: BusLink;
  readonly #uid: number | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #byObject = new Map<string, Entry>();
  #reading = 0;
  #isListed = false;
  #isListing = false;
  #mustList = true;
  #listedAtNs = 0n;
  #pause: NodeJS.Timeout | undefined;

  /** @param uid  of the user whose manager it is; undefined: the system's */
  constructor(addresses: readonly BusAddress[], uid?: number) {
    this.#uid = uid;
    this.#link = new BusLink(addresses, ['PropertiesChanged', 'Reloading', 'UnitNew', 'UnitRemoved'], {
      up: () => {
        // What was asked on another connection has failed by now.
        this.#link.call({ ...MANAGER, member: 'Subscribe' }, () => undefined);
        this.#changed();
      },
      signal: (member, path) => {
        const entry = member === 'PropertiesChanged' ? this.#byObject.get(path) : undefined;
        if (entry) entry.stale = true;
        if (member === 'Reloading') for (const each of this.#entries.values()) each.stale = true;
        this.#soon();
      },
    });
  }

  /** Units in the order of their paths. undefined: not listed yet. Without a connection the last known ones. */
  units(): readonly ManagedUnit[] | undefined {
    if (!this.#isListed) return undefined;
    const units = [...this.#entries.values()].flatMap(({ unit }) => unit ?? []);
    return units.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Whether this unit is active, as far as is known. */
  isActive(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Why it cannot be asked; undefined: it can, or was not yet. */
  get lastError(): string | undefined {
    return this.#link.lastError;
  }

  /** Called at ticks: reads old values again. */
  look(nowNs: bigint): void {
    this.#mustList ||= nowNs - this.#listedAtNs >= OLD_NS;
    const entries = [...this.#entries.values()];
    for (const entry of entries) entry.stale ||= nowNs - entry.askedAtNs >= OLD_NS;
    const asked = [
      ...entries.filter(({ isAsked }) => isAsked).map(({ askedAtNs }) => askedAtNs),
      ...(this.#isListing ? [this.#listedAtNs] : []),
    ];
    if (asked.some((atNs) => nowNs - atNs >= ANSWERED_WITHIN_NS)) this.#link.renew('no answer');
    else this.#list();
  }

  close(): void {
    clearTimeout(this.#pause);
    this.#link.close();
  }

  #soon(): void {
    this.#mustList = true;
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#list();
    }, PAUSE_MS).unref();
  }

  #changed(): void {
    this.#mustList = true;
    for (const entry of this.#entries.values()) entry.stale = true;
    this.#list();
  }

  /** Lists the units if something has changed, and reads those that are new or stale. */
  #list(): void {
    if (this.#isListing || !this.#link.up) return;
    if (!this.#mustList) {
      this.#read();
      return;
    }
    const patterns = [...INTERFACES.keys()].map((end) => `*.${end}`);
    this.#mustList = false;
    this.#isListing = true;
    this.#listedAtNs = process.hrtime.bigint();
    const isSent = this.#link.call({ ...MANAGER, member: 'ListUnitsByPatterns', signature: 'asas', body: [STATES, patterns] }, (reply) => {
      this.#isListing = false;
      if (reply.ok) this.#follow(namesOf(reply.body[0]));
      else this.#mustList = true;
    });
    if (!isSent) this.#isListing = false;
  }

  #follow(listed: readonly string[]): void {
    const names = new Set(this.#uid === undefined ? listed : listed.slice(0, MAX_PER_USER));
    for (const name of this.#entries.keys()) {
      if (names.has(name)) continue;
      this.#entries.delete(name);
      this.#byObject.delete(unitPath(name));
    }
    for (const name of names) {
      if (this.#entries.has(name)) continue;
      const entry: Entry = { name, unit: undefined, askedAtNs: 0n, stale: true, isAsked: false };
      this.#entries.set(name, entry);
      this.#byObject.set(unitPath(name), entry);
    }
    this.#read();
  }

  #read(): void {
    for (const entry of this.#entries.values()) {
      if (this.#reading >= READING_AT_ONCE) return;
      if (entry.stale && !entry.isAsked) this.#readOne(entry);
    }
    this.#isListed ||= [...this.#entries.values()].every(({ stale, isAsked }) => !stale && !isAsked);
  }

  #readOne(entry: Entry): void {
    this.#reading += 1;
    entry.isAsked = true;
    entry.stale = false; // a later change may be missing in the answer
    entry.askedAtNs = process.hrtime.bigint();
    const known = (properties: ManagedProperties | undefined): void => {
      this.#reading -= 1;
      entry.isAsked = false;
      if (properties === undefined) {
        entry.stale = true; // the connection was lost: read again on the next one
        return;
      }
      entry.unit = managedUnit(entry.name, properties, this.#uid);
      this.#read();
    };
    this.#get(entry.name, MANAGED_MODES, (modes) => {
      if (modes === undefined || !isManaged(modes)) known(modes);
      else this.#get(entry.name, MANAGED_DETAILS, (details) => known(details && { ...modes, ...details }));
    });
  }

  /** Each by itself: all properties of a service are many, some of them read from its cgroup. undefined: connection lost. */
  #get(name: string, wanted: readonly ManagedProperty[], done: (properties: ManagedProperties | undefined) => void): void {
    const kind = INTERFACES.get(name.slice(name.lastIndexOf('.') + 1)) ?? '';
    const to = { path: unitPath(name), interface: PROPERTIES, destination: SYSTEMD, member: 'Get', signature: 'ss' };
    const found: Partial<Record<ManagedProperty, unknown>> = {};
    let left = wanted.length;
    let isLost = false;
    const answered = (): void => {
      left -= 1;
      if (left === 0) done(isLost ? undefined : found);
    };
    for (const property of wanted) {
      const isSent = this.#link.call({ ...to, body: [`${SYSTEMD}.${kind}`, property] }, (reply) => {
        // An error with a name: this systemd does not have the property, or the unit is gone.
        if (reply.ok) found[property] = reply.body[0];
        else isLost ||= reply.name === undefined;
        answered();
      });
      if (isSent) continue;
      isLost = true;
      answered();
    }
  }
}

/** The names in a reply of type 'a(ssssssouso)'. */
function namesOf(units: unknown): readonly string[] {
  const rows: readonly unknown[] = Array.isArray(units) ? units : [];
  return rows.flatMap((row) => (Array.isArray(row) && typeof row[0] === 'string' ? row[0] : []));
}
