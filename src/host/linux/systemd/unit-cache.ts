import type { LoadedUnit } from '../../../core/loaded-unit.js';
import type { BusReply } from './bus-connection.js';
import type { BusLink } from './bus-link.js';
import { readUnit, unitCalls, unitPath } from './unit-reading.js';

/** Units that are asked for at a time: systemd has other work, and is asked for the next ones when it has answered. */
const READING_AT_ONCE = 8;
/** What systemd tells of no change of (the properties of `systemctl set-property`) is read again now and then: so many units at a tick … */
const REFRESHED_AT_A_TICK = 4;
/** … and none before it is so old. */
const OLD_NS = 60_000_000_000n;
/** What systemd has not said by then it is not about to say: it answers within milliseconds, unless it is in trouble itself. Who has to decide may wait for less. */
const AWAITED_AT_MOST_NS = 250_000_000n;
/** A request that is not answered for so long never will be. */
const ANSWERED_WITHIN_NS = 10_000_000_000n;

interface Entry {
  readonly name: string;
  /** It may be stopped: what hangs on it, and what it needs, matters, too. */
  mayGo: boolean;
  /** Since when somebody would like to know. */
  readonly wantedAtNs: bigint;
  /** undefined: not read yet, or there is none of this name. */
  unit: LoadedUnit | undefined;
  /** When that was asked for. */
  readAtNs: bigint | undefined;
  /** That was asked for by who has to decide. */
  decides: boolean;
  stale: boolean;
  /** Since when an answer is awaited. */
  askedAtNs: bigint | undefined;
}

/** The units that matter, as systemd last told of them. */
export class UnitCache {
  readonly #link: Pick<BusLink, 'call' | 'renew' | 'up'>;
  readonly #entries = new Map<string, Entry>();
  readonly #namesByPath = new Map<string, string>();
  #reading = 0;
  /** What was asked for before may hang together otherwise now. */
  #cameAtNs = 0n;

  constructor(link: Pick<BusLink, 'call' | 'renew' | 'up'>) {
    this.#link = link;
  }

  /** As in UnitManager. */
  get(name: string, sureSinceNs?: bigint): LoadedUnit | undefined {
    const entry = this.#entries.get(name);
    return entry?.unit && { ...entry.unit, stale: isStale(entry), unsure: this.#isUnsure(entry, sureSinceNs) };
  }

  /** These and what hangs on them, and nobody else. */
  follow(names: Iterable<string>, nowNs: bigint): void {
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
    if (this.#isUnanswered(nowNs)) this.#link.renew(`no answer within ${String(ANSWERED_WITHIN_NS / 1_000_000_000n)} s`);
    const aged = [...this.#entries.values()]
      .filter(({ readAtNs, stale }) => !stale && readAtNs !== undefined && nowNs - readAtNs >= OLD_NS)
      .sort((a, b) => Number((a.readAtNs ?? 0n) - (b.readAtNs ?? 0n)));
    for (const entry of aged.slice(0, REFRESHED_AT_A_TICK)) entry.stale = true;
    this.readOn();
  }

  /** Asks before its turn; as in UnitManager. */
  awaited(name: string, nowNs: bigint, withinNs = AWAITED_AT_MOST_NS, sureSinceNs?: bigint): boolean {
    if (!this.#entries.has(name)) this.#add(name, true);
    const entry = this.#entries.get(name);
    if (entry === undefined || !(this.#isUnsure(entry, sureSinceNs) || hasChanged(entry, sureSinceNs))) return false;
    if (entry.askedAtNs === undefined && this.#link.up) this.#read(entry, true);
    const askedAtNs = entry.askedAtNs ?? (entry.readAtNs === undefined ? entry.wantedAtNs : undefined);
    const sinceNs = askedAtNs === undefined || (sureSinceNs !== undefined && sureSinceNs > askedAtNs) ? sureSinceNs : askedAtNs;
    return sinceNs !== undefined && nowNs - sinceNs < withinNs;
  }

  /** Something has changed in the unit of this object. */
  changed(path: string): void {
    const entry = this.#entries.get(this.#namesByPath.get(path) ?? '');
    if (entry === undefined) return;
    entry.stale = true;
    this.readOn();
  }

  /** A unit has come that may hang on one of these. */
  hasCome(): void {
    this.#cameAtNs = process.hrtime.bigint();
  }

  /** Anything may have changed; what was asked for is not answered any more. */
  allChanged(): void {
    this.hasCome();
    for (const entry of this.#entries.values()) entry.stale = true;
  }

  /** Asks for what is not known, as far as it may be asked for now. */
  readOn(): void {
    if (!this.#link.up) return;
    for (const entry of this.#entries.values()) {
      if (this.#reading >= READING_AT_ONCE) return;
      if (entry.stale && entry.askedAtNs === undefined) this.#read(entry);
    }
  }

  /** Not read yet, or before somebody has come; what was read for a decision stands for as long as that may take. */
  #isUnsure({ readAtNs, decides }: Entry, sureSinceNs = this.#cameAtNs): boolean {
    if (readAtNs === undefined) return true;
    const isOld = readAtNs < this.#cameAtNs && readAtNs < sureSinceNs;
    return isOld && !(decides && process.hrtime.bigint() - readAtNs < AWAITED_AT_MOST_NS);
  }

  #read(entry: Entry, decides = false): void {
    const calls = unitCalls(entry.name);
    const replies: BusReply[] = [];
    let left = calls.length;
    entry.stale = false; // what changes from here on is not in the answer for sure
    const atNs = process.hrtime.bigint();
    entry.askedAtNs = atNs;
    this.#reading += 1;
    const answered = (index: number, reply: BusReply): void => {
      replies[index] = reply;
      left -= 1;
      if (left === 0) this.#known(entry, replies, { atNs, decides });
    };
    for (const [index, { call }] of calls.entries()) {
      const done = (reply: BusReply): void => {
        answered(index, reply);
      };
      if (!this.#link.call(call, done)) answered(index, LOST);
    }
  }

  #known(entry: Entry, replies: readonly BusReply[], { atNs, decides }: { readonly atNs: bigint; readonly decides: boolean }): void {
    this.#reading -= 1;
    entry.askedAtNs = undefined;
    if (replies.some((reply) => !reply.ok && reply.name === undefined)) {
      entry.stale = true; // the connection was lost: asked again on the next one
      return;
    }
    entry.unit = readUnit(entry.name, replies, atNs);
    entry.readAtNs = atNs;
    entry.decides = decides;
    if (this.#entries.get(entry.name) === entry) this.#attach(entry);
    this.readOn();
  }

  /** What is to be known with it, as far as it is known itself. */
  #attach(entry: Entry): void {
    const { unit } = entry;
    if (unit === undefined) return;
    entry.mayGo ||= unit.stopWhenUnneeded;
    if (!entry.mayGo) return;
    for (const name of [...unit.stopsWith, ...unit.triggeredBy]) this.#add(name, true);
    for (const name of [...unit.needs, ...unit.neededBy]) this.#add(name, false);
  }

  #add(name: string, mayGo: boolean): void {
    const known = this.#entries.get(name);
    if (known !== undefined) {
      if (!mayGo || known.mayGo) return;
      known.mayGo = true;
      this.#attach(known);
      return;
    }
    this.#entries.set(name, {
      name,
      mayGo,
      wantedAtNs: process.hrtime.bigint(),
      unit: undefined,
      readAtNs: undefined,
      decides: false,
      stale: true,
      askedAtNs: undefined,
    });
    this.#namesByPath.set(unitPath(name), name);
  }

  #forget({ name }: Entry): void {
    this.#entries.delete(name);
    this.#namesByPath.delete(unitPath(name));
  }

  #isUnanswered(nowNs: bigint): boolean {
    return [...this.#entries.values()].some(({ askedAtNs }) => askedAtNs !== undefined && nowNs - askedAtNs > ANSWERED_WITHIN_NS);
  }
}

function isStale({ stale, askedAtNs }: Entry): boolean {
  return stale || askedAtNs !== undefined;
}

/** It has since it was read, which was before then. */
function hasChanged(entry: Entry, sureSinceNs: bigint | undefined): boolean {
  return sureSinceNs !== undefined && isStale(entry) && (entry.readAtNs ?? 0n) < sureSinceNs;
}

const LOST: BusReply = { ok: false, name: undefined, message: 'no connection' };

/** What has to be known where this one is to be stopped. */
function attached(entry: Entry | undefined): readonly string[] {
  if (entry?.unit === undefined || !entry.mayGo) return [];
  const { stopsWith, triggeredBy, needs, neededBy } = entry.unit;
  return [...stopsWith, ...triggeredBy, ...needs, ...neededBy];
}
