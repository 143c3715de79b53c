import { existsSync } from 'node:fs';
import type { SystemdAnswer } from '../../../core/decide/eviction.js';
import type { SourceProblem, UnitJob, UnitManager } from '../../../monitor/ports/ports.js';
import { type BusAddress, type BusReply, MANAGER } from './bus-connection.js';
import { BusLink, SYSTEMD_ADDRESSES } from './bus-link.js';
import { noUnits } from '../../no-units.js';
import { UnitCache } from './units/unit-cache.js';

/**
 * Stopping replaces a conflicting job (a start in progress), as systemctl does; systemd refuses during a shutdown,
 * whose jobs cannot be replaced. Starting gives way to other jobs.
 */
const MODE = { stop: 'replace', start: 'fail' } as const;
/** systemd answers within milliseconds. */
const LOOK_MS = 2;
const UNKNOWN_METHOD = 'org.freedesktop.DBus.Error.UnknownMethod';

/** systemd's system manager: one connection, made when the first unit is followed. */
export function openUnitManager(addresses: readonly BusAddress[] = SYSTEMD_ADDRESSES): UnitManager {
  return existsSync('/run/systemd/system') ? new SystemdUnits(addresses) : noUnits; // sd_booted(3)
}

export class SystemdUnits implements UnitManager {
  #open: { readonly link: BusLink; readonly cache: UnitCache } | undefined;
  /** EnqueueUnitJob reports the affected units (systemd 246). */
  #enqueues = true;
  #watched: ReadonlySet<string> = new Set();
  readonly #followed = new Map<object, readonly string[]>();
  #closed = false;

  constructor(private readonly addresses: readonly BusAddress[]) {}

  connect(): boolean {
    if (this.#closed) return false;
    this.#open ??= this.#connect();
    return this.#open.link.up;
  }

  unit(name: string, sureSinceNs?: bigint): ReturnType<UnitManager['unit']> {
    return this.#open?.cache.get(name, sureSinceNs);
  }

  watch(names: Iterable<string>): void {
    const watched = new Set(names);
    for (const name of watched) if (!this.#watched.has(name)) this.awaited(name);
    this.#watched = watched;
  }

  follow(names: Iterable<string>, owner: object = this): void {
    if (this.#closed) return;
    this.#followed.set(owner, [...names]);
    const followed = new Set([...[...this.#followed.values()].flat(), ...this.#watched]);
    if (followed.size === 0 && this.#open === undefined) return;
    this.#open ??= this.#connect();
    this.#open.cache.follow(followed, process.hrtime.bigint());
  }

  unfollow(owner: object): void {
    this.#followed.delete(owner);
  }

  lookAgain(callback: () => void): void {
    setTimeout(callback, LOOK_MS).unref();
  }

  awaited(name: string, withinNs?: bigint, sureSinceNs?: bigint): boolean {
    if (this.#closed) return false;
    this.#open ??= this.#connect();
    return this.#open.cache.awaited(name, process.hrtime.bigint(), withinNs, sureSinceNs);
  }

  request(jobs: readonly UnitJob[], onAnswer?: (answer: SystemdAnswer) => void): (() => SystemdAnswer | undefined) | undefined {
    const link = this.#open?.link;
    if (!link?.up) return undefined;
    const units = new Set<string>();
    const errors: string[] = [];
    let left = jobs.length;
    let isLost = false;
    const answer = (): SystemdAnswer => ({ units: [...units].sort(), errors, ...(isLost && { lost: true }) });
    for (const job of jobs) {
      this.#ask(link, job, (names, error, lost) => {
        left -= 1;
        isLost ||= lost === true;
        for (const name of names) units.add(name);
        if (error !== undefined) errors.push(`${job.unit}: ${error}`);
        if (left === 0) onAnswer?.(answer());
      });
    }
    return () => (left > 0 ? undefined : answer());
  }

  problem(): SourceProblem | undefined {
    const error = this.#open?.link.lastError;
    if (error === undefined) return undefined;
    return {
      code: 'EVICTD_SYSTEMD_UNREACHABLE',
      message: `systemd does not answer (${error}): evictd sends signals instead of stopping units, and reads no new units`,
      hint: 'evictd tries again at least every 30 s; run it as root, with /run/systemd/private and /run/dbus visible to it',
    };
  }

  close(): void {
    this.#closed = true;
    this.#open?.cache.close();
    this.#open?.link.close();
  }

  #connect(): { readonly link: BusLink; readonly cache: UnitCache } {
    // Its events come after the constructor.
    const link: BusLink = new BusLink(this.addresses, ['PropertiesChanged', 'Reloading', 'UnitNew'], {
      up: () => {
        // On the bus systemd sends signals only after Subscribe; on its own socket always.
        link.call({ ...MANAGER, member: 'Subscribe' }, () => undefined);
        cache.allChanged();
        cache.readOn();
      },
      signal: (member, path, first) => {
        if (member === 'Reloading') cache.allChanged();
        else if (member === 'UnitNew') cache.unitAppeared(first);
        else cache.changed(path);
      },
    });
    const cache = new UnitCache(link);
    return { link, cache };
  }

  #ask(link: BusLink, job: UnitJob, done: (units: readonly string[], error?: string, lost?: boolean) => void): void {
    const { type, unit } = job;
    const enqueues = this.#enqueues;
    const answered = (reply: BusReply): void => {
      if (reply.ok) {
        done(enqueues ? concerned(reply.body) : [unit]);
      } else if (enqueues && reply.name === UNKNOWN_METHOD) {
        this.#enqueues = false;
        this.#ask(link, job, done);
      } else {
        done([], reply.message, reply.name === undefined);
      }
    };
    const call = enqueues
      ? { ...MANAGER, member: 'EnqueueUnitJob', signature: 'sss', body: [unit, type, MODE[type]] }
      : { ...MANAGER, member: type === 'stop' ? 'StopUnit' : 'StartUnit', signature: 'ss', body: [unit, MODE[type]] };
    if (!link.call(call, answered)) done([], 'systemd does not read from the connection', true);
  }
}

/**
 * 'uososa(uosos)': the job's number and object, the unit and its object, the job's type; then the same of every other
 * affected job.
 */
function concerned([, , unit, , , others]: readonly unknown[]): string[] {
  const names = Array.isArray(others) ? others.map((other: unknown) => (Array.isArray(other) ? (other[2] as unknown) : undefined)) : [];
  return [unit, ...names].filter((name): name is string => typeof name === 'string');
}
