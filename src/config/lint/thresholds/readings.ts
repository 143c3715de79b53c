import { isPressure, type Signal } from '../../../core/signal/signal.js';
import { isListed, operandsOf, type Threshold } from '../../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { thresholdKey } from '../limit.js';
import type { MachineFacts } from '../machine.js';

/** RHEL's kernels are built with PSI off by default (CONFIG_PSI_DEFAULT_DISABLED), Debian's with PSI on. */
export const PSI_OFF_HINT =
  'boot with psi=1 (Debian: in GRUB_CMDLINE_LINUX, then update-grub; RHEL: grubby --update-kernel=ALL --args=psi=1), on Linux 4.20 or later with CONFIG_PSI=y';

const COPY_HINT = 'set enforceNodeAllocatable: [] to disable the copy of memory.available, or 0% to disable an entry of its own';

/** Thresholds of signals that do not exist or cannot be read on this machine. */
export function lintReadings(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (machine === undefined) return [];
  const seen = new Set<string>();
  const containerfs = machine.unreadable.get('containerfs.available');
  const operands = subject.thresholds.flatMap((threshold) => operandsOf(threshold).map(({ signal }) => ({ signal, threshold })));
  // It has no thresholds of its own that would report it.
  const unwatched: Finding[] =
    containerfs === undefined || operands.some(({ signal }) => signal.startsWith('containerfs.'))
      ? []
      : [
          {
            level: 'warn',
            code: 'EVICTD_SIGNAL_UNREADABLE',
            message: `containerfs.* cannot be read: ${containerfs}`,
            hint: 'set filesystems.containerfs to a path on nodefs or imagefs',
            key: 'filesystems.containerfs',
            signal: 'containerfs.available',
          },
        ];
  const read = operands.flatMap(({ signal, threshold }): Finding[] => {
    const key = thresholdKey(threshold, subject);
    if (seen.has(signal)) return [];
    seen.add(signal);
    const absent = machine.absent.get(signal);
    if (absent !== undefined) {
      const message = `${signal} does not exist here, its thresholds are never met: ${absent}`;
      return [{ level: 'info', code: 'EVICTD_LINT_UNREACHABLE', message, ...(isCopied(signal) && { hint: COPY_HINT }), key, signal }];
    }
    const reason = machine.unreadable.get(signal);
    if (reason === undefined) return [];
    const message = `${signal} cannot be read: ${reason}`;
    return [
      {
        level: 'warn',
        code: 'EVICTD_SIGNAL_UNREADABLE',
        message,
        hint: hintOf(signal, threshold),
        key,
        signal,
      },
    ];
  });
  return [...read, ...unwatched];
}

function hintOf(signal: Signal, threshold: Threshold): string {
  if (isPressure(signal)) return `${PSI_OFF_HINT}; or remove the entry (the default: departures: {thrashing: false})`;
  if (isCopied(signal)) return COPY_HINT;
  return isListed(threshold) ? 'remove the entry' : 'set it to 0% to disable its threshold';
}

function isCopied(signal: Signal): boolean {
  return signal === 'allocatableMemory.available';
}

export const readingsRule: LintRule = {
  codes: ['EVICTD_SIGNAL_UNREADABLE', 'EVICTD_LINT_UNREACHABLE'],
  find: lintReadings,
};
