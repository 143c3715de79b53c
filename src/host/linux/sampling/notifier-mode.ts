import { closeSync, openSync, readSync } from 'node:fs';
import type { Binding, PsiTriggerConstructor, ThresholdWatch, Watch, WatchStatus } from '../../../native/binding.js';
import type { WatchPlan } from '../memory/memory-notifiers.js';
import { isPsiWindowForAll } from '../pressure/pressure.js';
import { fsPath } from '../../../byte-paths.js';

/**
 * `arm`: arms everything. `sample` (a dry run): writes to no cgroup and no pressure file; the sampler watches, on v1
 * too. `probe`: as `arm`, to report what could be armed, but registers nothing with the kernel that takes it time to
 * undo: instead it opens the files.
 */
export type NotifierMode = 'arm' | 'sample' | 'probe';

export function planFor(mode: NotifierMode, plan: WatchPlan): WatchPlan {
  switch (mode) {
    case 'arm':
      return plan;
    case 'sample':
      return { ...plan, thresholdDirectory: undefined, pressureFile: undefined, oomDirectory: undefined };
    case 'probe':
      return { ...plan, oomDirectory: undefined };
  }
}

export function bindingFor(mode: NotifierMode, native: Binding): Binding {
  if (mode !== 'probe') return native;
  return { ...native, MemcgThreshold: ThresholdProbe, PsiTrigger: PsiProbe, measureFill: () => ASSUMED_FILL };
}

/** Bytes per second. A probe ends before it matters, and measuring takes milliseconds. */
const ASSUMED_FILL = 1e9;

/** Opens the files that a watch needs, and fails where that does. Never wakes. */
class WatchProbe implements Watch {
  live = true;
  readonly #mechanism: string;
  readonly #target: string;

  constructor(mechanism: string, target: string, files: readonly { readonly path: string; readonly flags: string }[]) {
    this.#mechanism = mechanism;
    this.#target = target;
    for (const { path, flags } of files) {
      const file = openSync(fsPath(path), flags);
      try {
        // Older kernels open a pressure file while PSI is off, and then refuse to read it.
        if (flags !== 'a') readSync(file, Buffer.alloc(1));
      } finally {
        closeSync(file);
      }
    }
  }

  status(): WatchStatus {
    return { mechanism: this.#mechanism, target: this.#target, live: this.live, errno: 0 };
  }

  close(): void {
    this.live = false;
  }
}

class ThresholdProbe extends WatchProbe implements ThresholdWatch {
  armed: bigint | undefined;

  constructor(cgroup: string, usageBytes: bigint) {
    super('memcg_threshold', cgroup, [
      { path: `${cgroup}/memory.usage_in_bytes`, flags: 'r' },
      { path: `${cgroup}/cgroup.event_control`, flags: 'a' },
    ]);
    this.armed = usageBytes;
  }

  move(usageBytes: bigint): void {
    this.armed = usageBytes;
  }

  override close(): void {
    super.close();
    this.armed = undefined;
  }
}

/** Only a trigger finds out whether the kernel takes a window that not every process may set. */
class PsiProbe extends WatchProbe {
  constructor(...[file, { windowUs }]: ConstructorParameters<PsiTriggerConstructor>) {
    if (!isPsiWindowForAll(windowUs)) throw Object.assign(new Error(`${file}: not every process may set this window`), EINVAL);
    super('psi_trigger', file, [{ path: file, flags: 'r+' }]);
  }
}

const EINVAL = { code: 'EINVAL', syscall: 'write' };
