import { closeSync, openSync } from 'node:fs';
import type { Binding, ThresholdWatch, WatchStatus } from '../../../native/binding.js';
import type { WatchPlan } from '../memory/memory-notifiers.js';

/**
 * `arm`: arms everything. `sample` (a dry run): writes to no cgroup and no pressure file; the sampler watches, on v1
 * too. `probe`: as `arm`, to report what could be armed, but registers nothing with a v1 cgroup, which would take time.
 */
export type NotifierMode = 'arm' | 'sample' | 'probe';

export function notifierMode(mode: NotifierMode, plan: WatchPlan, native: Binding): readonly [native: Binding, plan: WatchPlan] {
  switch (mode) {
    case 'arm':
      return [native, plan];
    case 'sample':
      return [native, { ...plan, thresholdDirectory: undefined, pressureFile: undefined, oomDirectory: undefined }];
    case 'probe':
      return [
        { ...native, MemcgThreshold: ThresholdProbe },
        { ...plan, oomDirectory: undefined },
      ];
  }
}

/** Stands for a v1 threshold: fails where the files for a registration may not be opened. Never wakes. */
class ThresholdProbe implements ThresholdWatch {
  live = true;
  armed: bigint | undefined;
  readonly #cgroup: string;

  constructor(cgroup: string, usageBytes: bigint) {
    this.#cgroup = cgroup;
    this.armed = usageBytes;
    closeSync(openSync(`${cgroup}/memory.usage_in_bytes`, 'r'));
    closeSync(openSync(`${cgroup}/cgroup.event_control`, 'a'));
  }

  move(usageBytes: bigint): void {
    this.armed = usageBytes;
  }

  status(): WatchStatus {
    return { mechanism: 'memcg_threshold', target: this.#cgroup, live: this.live, errno: 0 };
  }

  close(): void {
    this.live = false;
    this.armed = undefined;
  }
}
