import type { LoadedConfig } from '../../config/config.js';
import { examine } from './check-kind.js';
import type { Check } from './check.js';
import { withRest } from './findings.js';
import { LINUX_CHECKS } from './linux-checks.js';
import * as windowsChecks from './windows-checks.js';
import { selectHost, type DoctorReaders } from '../../host/select.js';
import { asWindows } from '../../native/windows-addon.js';
import type { FilesystemsRead } from '../../node/machine-facts.js';
import { loadAddon, askRuntimes } from './inspection/runtimes-inspection.js';
import { Timeouts } from '../../node/timeouts.js';
import { linuxFacts } from './inspection/linux-inspection.js';
import * as windows from './inspection/windows-inspector.js';

export interface Examination {
  readonly checks: readonly Check[];
  /**
   * Ends the process at once, for when something hangs and the process would not end by itself. undefined: nothing
   * hangs.
   */
  readonly exitNow: ((code: number) => never) | undefined;
}

/** Reads what `run` reads, and more, and judges it. Changes nothing: it closes what it arms. */
export function examineMachine(loaded: LoadedConfig, filesystemsRead: FilesystemsRead): Promise<Examination> {
  const { doctor } = selectHost();
  return doctor ? examineLinux(loaded, filesystemsRead, doctor) : examineWindows(loaded, filesystemsRead);
}

async function examineLinux(loaded: LoadedConfig, filesystemsRead: FilesystemsRead, doctor: DoctorReaders): Promise<Examination> {
  const timeouts = new Timeouts();
  const { native, facts: runtime } = await loadAddon();
  // First and alone: it loads gRPC, which would make other answers look late.
  const opened = await askRuntimes(loaded.config, native);
  try {
    const facts = linuxFacts({ loaded, filesystemsRead, doctor, native, runtime, opened, timeouts });
    const checks = withRest(await examine(LINUX_CHECKS, facts), await facts.workloads());
    return { checks, exitNow: timeouts.expired && native ? (code) => native.exitNow(code) : undefined };
  } finally {
    opened.close();
  }
}

async function examineWindows(loaded: LoadedConfig, filesystemsRead: FilesystemsRead): Promise<Examination> {
  const timeouts = new Timeouts();
  const { native: addon, facts: runtime } = await loadAddon();
  const native = addon && asWindows(addon);
  const facts = windows.windowsFacts({ loaded, filesystemsRead, addon, native, runtime, timeouts });
  const checks = withRest(await examine(windowsChecks.WINDOWS_CHECKS, facts), await facts.workloads());
  return { checks, exitNow: timeouts.expired && native ? (code) => native.exitNow(code) : undefined };
}
