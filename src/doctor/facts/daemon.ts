import type { Threshold } from '../../core/threshold.js';
import type { Unseen } from './unseen.js';

export type DaemonName = 'systemd-oomd' | 'earlyoom' | 'nohang' | 'oomd' | 'lmkd' | 'kubelet';

/** Another one that ends processes when memory runs short. */
export interface DaemonFacts {
  readonly name: DaemonName;
  readonly pid: number;
  /** 'earlyoom.service', by its cgroup. */
  readonly unit: string | undefined;
  readonly arguments: readonly string[] | Unseen;
  /** nohang: its file. systemd-oomd: what oomctl prints. */
  readonly settings: string | Unseen;
  /** kubelet: its hard threshold of memory, where it can be known. */
  readonly memory: Threshold | undefined;
}

export interface DaemonsFacts {
  readonly found: readonly DaemonFacts[];
  /** undefined: every process of the machine could be seen. */
  readonly hidden: string | undefined;
}
