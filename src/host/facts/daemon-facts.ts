import type { Threshold } from '../../core/threshold/threshold.js';
import type { Unseen } from './unread-fact.js';

export type DaemonName = 'systemd-oomd' | 'earlyoom' | 'nohang' | 'oomd' | 'lmkd' | 'kubelet';

/** Another daemon that ends processes when memory runs short. */
export interface DaemonFacts {
  readonly name: DaemonName;
  readonly pid: number;
  /** From its cgroup: 'earlyoom.service'. */
  readonly unit: string | undefined;
  readonly arguments: readonly string[] | Unseen;
  /** nohang: its configuration file. systemd-oomd: the output of oomctl. */
  readonly settings: string | Unseen;
  /** kubelet: its hard threshold of memory, if known. */
  readonly memory: Threshold | undefined;
}

export interface DaemonsFacts {
  readonly found: readonly DaemonFacts[];
  /** Why some processes are not visible; undefined: all are. */
  readonly hidden: string | undefined;
}
