import type { LoadedUnit } from '../../../../core/systemd/loaded-unit.js';
import type { BusReply } from '../bus-connection.js';
import type { BusLink } from '../bus-link.js';
import { NewUnits } from './new-units.js';
import { readUnit, settingCalls, type UnitCall, unitCalls, unitPath, withSettings } from './unit-reading.js';

/** Units that are read at a time, to leave systemd time for other work. */
const READING_AT_ONCE = 8;
/** Units read again at a time because they are old: systemd does not signal `systemctl set-property`. */
const REFRESHED_AT_ONCE = 4;
/** The pause before the next of them. */
const PAUSE_MS = 10_000;
/** When a workload is read again. On v2 the cgroup itself has what it needs at a decision. */
const OLD_NS = 240_000_000_000n;
/** When a unit is read again that only stops with others, or that a new unit has made unsure. */
const SOON_OLD_NS = 60_000_000_000n;
/** All properties are read again once they are this old. */
const WHOLLY_OLD_NS = 600_000_000_000n;
/** systemd answers within milliseconds unless it is in trouble. A decision may wait for less. */
const MAX_AWAITED_NS = 250_000_000n;
/** A request without an answer for so long is lost. */
const ANSWERED_WITHIN_NS = 10_000_000_000n;

interface Entry {
  readonly name: string;
  /** It may be stopped, so its dependencies matter, too. */
  mayStop: boolean;
  /** When it was first asked for. */
  readonly wantedAtNs: bigint;
  /** undefined: not read yet, or no such unit. */
  unit: LoadedUnit | undefined;
  /** When the last complete reading was asked for. */
  readAtNs: bigint | undefined;
  /** Whether that reading was for a decision. */
  decides: boolean;
  /** When what changes without a signal was last asked for. */
  refreshedAtNs: bigint;
  /** When a new unit was found to name it. Readings from before may lack dependencies. */
  namedAtNs: bigint;
  stale: boolean;
  /** The time since which an answer is awaited. */
  requestedAtNs: bigint | undefined;
}

/** The followed units, as systemd last described them. */
export class UnitCache {
  readonly #entries = new Map<string, Entry>();
  readonly #namesByPath = new Map<string, string>();
  #workloads: ReadonlySet<string> = new Set();
  #reading = 0;
  /** Readings of all units from before may lack dependencies. */
  #cameAtNs = 0n;
  readonly #new: NewUnits;
  /** Set while more old units wait to be read again. */
  #pause: NodeJS.Timeout | undefined;

  constructor(private readonly link: Pick<BusLink, 'call' | 'renew' | 'up'>) {
    this.#new = new NewUnits(link, this.#namedByNew.bind(this));
  }

  /** See UnitManager. */
  get(name: string, sureSinceNs?: bigint): LoadedUnit | undefined {
    const entry = this.#entries.get(name);
    return entry?.unit && { ...entry.unit, stale: isStale(entry), unsure: this.#isUnsure(entry, sureSinceNs) };
  }

  /** Follows these and their dependencies, and no others. */
  follow(names: ReadonlySet<string>, nowNs: bigint): void {
    this.#workloads = names;
    const wanted = new Set<string>();
    const add = (name: string): void => {
      if (wanted.has(name)) return;
      wanted.add(name);
      for (const other of attached(this.#entries.get(name))) add(other);
    };
    for (const name of names) {
      this.#add(name, true);
      add(name);
    }
    for (const entry of this.#entries.values()) if (!wanted.has(entry.name)) this.#forget(entry);
    if (this.#isUnanswered(nowNs)) this.link.renew(`no answer within ${String(ANSWERED_WITHIN_NS / 1_000_000_000n)} s`);
    if (this.#pause === undefined) this.#refreshOld(nowNs);
    this.readOn();
  }

  close(): void {
    clearTimeout(this.#pause);
  }

  /** Reads it first; see UnitManager. */
  awaited(name: string, nowNs: bigint, withinNs = MAX_AWAITED_NS, sureSinceNs?: bigint): boolean {
    if (!this.#entries.has(name)) this.#add(name, true);
    const entry = this.#entries.get(name);
    if (entry === undefined || !(this.#isUnsure(entry, sureSinceNs) || hasChanged(entry, sureSinceNs))) return false;
    if (entry.requestedAtNs === undefined && this.link.up) this.#read(entry, true);
    const requestedAtNs = entry.requestedAtNs ?? (entry.readAtNs === undefined ? entry.wantedAtNs : undefined);
    const sinceNs = requestedAtNs === undefined || (sureSinceNs !== undefined && sureSinceNs > requestedAtNs) ? sureSinceNs : requestedAtNs;
    return sinceNs !== undefined && nowNs - sinceNs < withinNs;
  }

  /** A property of the unit with this object path has changed. */
  changed(path: string): void {
    const entry = this.#entries.get(this.#namesByPath.get(path) ?? '');
    if (entry === undefined) return;
    entry.stale = true;
    this.readOn();
  }

  /** A new unit may depend on one of these. Those that it names are read again. */
  unitAppeared(name = ''): void {
    this.#new.appeared(name, process.hrtime.bigint());
  }

  #namedByNew(names: ReadonlySet<string> | undefined): void {
    const nowNs = process.hrtime.bigint();
    if (names === undefined) {
      this.#cameAtNs = nowNs;
      return;
    }
    for (const entry of this.#entries.values()) {
      if (!names.has(entry.name) && !names.has(entry.unit?.name ?? '')) continue;
      entry.namedAtNs = nowNs;
      entry.stale ||= entry.mayStop;
    }
    this.readOn();
  }

  /** Anything may have changed, and pending calls are lost. */
  allChanged(): void {
    this.#cameAtNs = process.hrtime.bigint();
    for (const entry of this.#entries.values()) entry.stale = true;
  }

  /** Reads stale units, as far as the limits allow. */
  readOn(): void {
    if (!this.link.up) return;
    for (const entry of this.#entries.values()) {
      if (this.#reading >= READING_AT_ONCE) return;
      if (entry.stale && entry.requestedAtNs === undefined) this.#read(entry);
    }
  }

  /**
   * Not read yet, or read before a new unit appeared that names it or may do so. Where it only may, a reading for a
   * decision counts for as long as that may take.
   */
  #isUnsure({ readAtNs, decides, namedAtNs }: Entry, sureSinceNs?: bigint): boolean {
    if (readAtNs === undefined) return true;
    if (sureSinceNs !== undefined && readAtNs >= sureSinceNs) return false;
    if (readAtNs < namedAtNs) return true;
    const isOld = readAtNs < this.#cameAtNs || readAtNs < this.#new.askedNs;
    return isOld && !(decides && process.hrtime.bigint() - readAtNs < MAX_AWAITED_NS);
  }

  #refreshOld(nowNs: bigint): void {
    const isOld = (entry: Entry): boolean => {
      const isSoon = (entry.mayStop && this.#isUnsure(entry)) || !this.#workloads.has(entry.name);
      return nowNs - entry.refreshedAtNs >= (isSoon ? SOON_OLD_NS : OLD_NS);
    };
    const old = [...this.#entries.values()]
      .filter((entry) => !isStale(entry) && entry.readAtNs !== undefined && isOld(entry))
      .sort((a, b) => Number(a.refreshedAtNs - b.refreshedAtNs));
    for (const entry of old.slice(0, REFRESHED_AT_ONCE)) this.#refresh(entry, nowNs);
    if (old.length <= REFRESHED_AT_ONCE) return;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#refreshOld(process.hrtime.bigint());
      this.readOn();
    }, PAUSE_MS).unref();
  }

  #refresh(entry: Entry, nowNs: bigint): void {
    entry.refreshedAtNs = nowNs;
    const { unit, readAtNs = 0n } = entry;
    if (unit === undefined || (entry.mayStop && this.#isUnsure(entry)) || nowNs - readAtNs >= WHOLLY_OLD_NS) {
      entry.stale = true;
      return;
    }
    this.#ask(entry, settingCalls(entry.name), (replies) => {
      // Without any value the unit is gone.
      if (replies.every(({ ok }) => !ok)) entry.stale = true;
      else entry.unit = withSettings(unit, replies);
    });
  }

  #read(entry: Entry, decides = false): void {
    entry.stale = false; // a later change may be missing in the answer
    const atNs = process.hrtime.bigint();
    this.#ask(entry, unitCalls(entry.name), (replies) => {
      this.#known(entry, replies, { atNs, decides });
    });
  }

  #ask(entry: Entry, calls: readonly UnitCall[], done: (replies: readonly BusReply[]) => void): void {
    const replies: BusReply[] = [];
    let left = calls.length;
    if (left === 0) return;
    entry.requestedAtNs = process.hrtime.bigint();
    this.#reading += 1;
    const answered = (index: number, reply: BusReply): void => {
      replies[index] = reply;
      left -= 1;
      if (left > 0) return;
      this.#reading -= 1;
      entry.requestedAtNs = undefined;
      if (replies.some((each) => !each.ok && each.name === undefined)) {
        entry.stale = true; // the connection was lost: read again on the next one
        return;
      }
      done(replies);
      this.readOn();
    };
    for (const [index, { call }] of calls.entries()) {
      const sent = this.link.call(call, (reply) => {
        answered(index, reply);
      });
      if (!sent) answered(index, LOST);
    }
  }

  #known(entry: Entry, replies: readonly BusReply[], { atNs, decides }: { readonly atNs: bigint; readonly decides: boolean }): void {
    entry.unit = readUnit(entry.name, replies, atNs);
    entry.readAtNs = atNs;
    entry.refreshedAtNs = atNs;
    entry.decides = decides;
    if (entry.unit === undefined) this.#gone(entry.name, atNs);
    if (this.#entries.get(entry.name) === entry) this.#attach(entry);
  }

  /** A transient unit that has ended does not stop with another one any more: systemd signals no change of that one. */
  #gone(name: string, atNs: bigint): void {
    for (const entry of this.#entries.values()) {
      const { stopsWith = [], triggeredBy = [] } = entry.unit ?? {};
      entry.stale ||= (entry.readAtNs ?? atNs) < atNs && [...stopsWith, ...triggeredBy].includes(name);
    }
  }

  /** Adds its dependencies. */
  #attach(entry: Entry): void {
    const { unit } = entry;
    if (unit === undefined) return;
    entry.mayStop ||= unit.stopWhenUnneeded;
    if (!entry.mayStop) return;
    for (const name of [...unit.stopsWith, ...unit.triggeredBy]) this.#add(name, true);
    for (const name of [...unit.needs, ...unit.neededBy]) this.#add(name, false);
  }

  #add(name: string, mayGo: boolean): void {
    const known = this.#entries.get(name);
    if (known !== undefined) {
      if (!mayGo || known.mayStop) return;
      known.mayStop = true;
      known.stale ||= this.#isUnsure(known);
      this.#attach(known);
      return;
    }
    this.#entries.set(name, {
      name,
      mayStop: mayGo,
      wantedAtNs: process.hrtime.bigint(),
      unit: undefined,
      readAtNs: undefined,
      refreshedAtNs: 0n,
      namedAtNs: 0n,
      decides: false,
      stale: true,
      requestedAtNs: undefined,
    });
    this.#namesByPath.set(unitPath(name), name);
  }

  #forget({ name }: Entry): void {
    this.#entries.delete(name);
    this.#namesByPath.delete(unitPath(name));
  }

  #isUnanswered(nowNs: bigint): boolean {
    return [...this.#entries.values()].some(
      ({ requestedAtNs }) => requestedAtNs !== undefined && nowNs - requestedAtNs > ANSWERED_WITHIN_NS,
    );
  }
}

function isStale({ stale, requestedAtNs }: Entry): boolean {
  return stale || requestedAtNs !== undefined;
}

/** It has changed since a reading from before then. */
function hasChanged(entry: Entry, sureSinceNs: bigint | undefined): boolean {
  return sureSinceNs !== undefined && isStale(entry) && (entry.readAtNs ?? 0n) < sureSinceNs;
}

const LOST: BusReply = { ok: false, name: undefined, message: 'no connection' };

/** The units that matter when this one is stopped. */
function attached(entry: Entry | undefined): readonly string[] {
  if (entry?.unit === undefined || !entry.mayStop) return [];
  const { stopsWith, triggeredBy, needs, neededBy } = entry.unit;
  return [...stopsWith, ...triggeredBy, ...needs, ...neededBy];
}
