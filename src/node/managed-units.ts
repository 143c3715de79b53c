import type { Config } from '../config/config.js';
import { selectHost } from '../host/select.js';
import type { ManagedOom } from '../monitor/ports/managed-oom.js';
import { selectsManaged } from '../workloads/kinds/source-spec.js';
import { pause } from './timeouts.js';

/** systemd answers within milliseconds; a machine has some hundred units. */
const ANSWERED_WITHIN_MS = 1_500;
const LOOK_MS = 10;

type Selecting = Pick<Config, 'workloads'>;

/** The settings of managed units, with one connection to each service manager, while a configuration selects them. */
export class ManagedUnitSettings {
  #open: ManagedOom | undefined;

  /** undefined: no source selects managed units. */
  of({ workloads }: Selecting): ManagedOom | undefined {
    if (!selectsManaged(workloads)) return undefined;
    const host = selectHost();
    this.#open ??= host.openManagedOom(host.readHierarchies().memory);
    return this.#open;
  }

  /** The units after systemd has answered or timed out, for a single reading. */
  async reported(selecting: Selecting): Promise<ManagedOom | undefined> {
    const managedOom = this.of(selecting);
    for (let waited = 0; managedOom && managedOom.read() === undefined && waited < ANSWERED_WITHIN_MS; waited += LOOK_MS) {
      await pause(LOOK_MS);
    }
    return managedOom;
  }

  keepOnly(selecting: Selecting): void {
    if (!selectsManaged(selecting.workloads)) this.close();
  }

  close(): void {
    this.#open?.close();
    this.#open = undefined;
  }
}
