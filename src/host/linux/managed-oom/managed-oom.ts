import { existsSync, readdirSync, statSync } from 'node:fs';
import type { CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { ManagedUnit } from '../../../core/systemd/managed-unit.js';
import type { ManagedOom } from '../../../monitor/ports/managed-oom.js';
import type { SourceProblem } from '../../../monitor/ports/ports.js';
import { fsPath } from '../../../byte-paths.js';
import { noManagedOom } from '../../no-managed-oom.js';
import type { BusAddress } from '../systemd/bus-connection.js';
import { SYSTEMD_ADDRESSES } from '../systemd/bus-link.js';
import { ManagedUnits } from './managed-units.js';
import { readOomdFiles } from './oomd-files.js';
import { attempt } from '../../../errors.js';

/** Managers of more users are not asked. */
const MAX_USERS = 64;

/** The places of the files; tests have their own. */
export interface ManagedOomPlaces {
  readonly system: readonly BusAddress[];
  /** A directory a user, by uid. */
  readonly runtime: string;
  /** The mount of the cgroup hierarchy. */
  readonly mount: string;
  /** Prefix of the files of systemd-oomd. */
  readonly root: string;
}

/** @param memory  the hierarchy of the memory controller; undefined: there is none */
export function openManagedOom(memory: CgroupHierarchy | undefined): ManagedOom {
  if (memory?.version !== 2) return noManagedOom('pressure and swap of units can be read on cgroup v2 only');
  if (!existsSync('/run/systemd/system')) return noManagedOom('systemd is not the init of this machine');
  return new SystemdManagedOom({ system: SYSTEMD_ADDRESSES, runtime: '/run/user', mount: memory.mountPoint, root: '' });
}

/** The managed units of the system's manager and of those of the users. */
export class SystemdManagedOom implements ManagedOom {
  readonly #system: ManagedUnits;
  readonly #users = new Map<number, ManagedUnits>();
  #files: ReturnType<typeof readOomdFiles>;

  constructor(private readonly places: ManagedOomPlaces) {
    this.#files = readOomdFiles(places.root);
    this.#system = new ManagedUnits(places.system);
    this.#followUsers();
  }

  look(nowNs: bigint): void {
    this.#files = readOomdFiles(this.places.root);
    this.#followUsers();
    this.#system.look(nowNs);
    for (const units of this.#users.values()) units.look(nowNs);
  }

  read(): ReturnType<ManagedOom['read']> {
    const ofSystem = this.#system.units();
    if (ofSystem === undefined) return undefined;
    const ofUsers = [...this.#users].flatMap(([uid, units]) => (units.units() ?? []).filter((unit) => this.#owns(uid, unit)));
    return { ...this.#files, units: [...ofSystem, ...ofUsers], isLeftToOomd: this.#system.isActive('systemd-oomd.service') };
  }

  problems(): readonly SourceProblem[] {
    const { lastError: trouble } = this.#system;
    if (trouble === undefined) return [];
    return [
      {
        code: 'EVICTD_SYSTEMD_UNREACHABLE',
        message: `systemd does not answer (${trouble}): evictd keeps the ManagedOOM settings that it read last`,
        hint: 'evictd tries again at least every 30 s; run it as root, with /run/systemd/private and /run/dbus visible to it',
      },
    ];
  }

  close(): void {
    this.#system.close();
    for (const units of this.#users.values()) units.close();
  }

  /** Whether the user's manager may decide about the unit: as in systemd-oomd, about cgroups of that user only. */
  #owns(uid: number, { path }: ManagedUnit): boolean {
    return statSync(fsPath(`${this.places.mount}${path}`), { throwIfNoEntry: false })?.uid === uid;
  }

  #followUsers(): void {
    const uids = new Set(this.#uids().slice(0, MAX_USERS));
    for (const [uid, units] of this.#users) {
      if (uids.has(uid)) continue;
      units.close();
      this.#users.delete(uid);
    }
    for (const uid of uids) {
      if (this.#users.has(uid)) continue;
      this.#users.set(uid, new ManagedUnits([{ path: this.#socket(uid), daemon: false }], uid));
    }
  }

  /** Uids of users whose manager runs. */
  #uids(): readonly number[] {
    const names = attempt(() => readdirSync(this.places.runtime)) ?? []; // without logind there are none
    const uids = names.flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
    return uids.filter((uid) => existsSync(this.#socket(uid))).sort((a, b) => a - b);
  }

  #socket(uid: number): string {
    return `${this.places.runtime}/${String(uid)}/systemd/private`;
  }
}
