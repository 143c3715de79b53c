import type { InhibitDelay } from '../core/systemd/inhibit-delay.js';
import type { OomReading } from '../core/oom/oom-reading.js';
import type { Platform } from '../core/signal/operating-system.js';
import { UnavailableError } from '../errors.js';
import { selectArguments, selectHost, selectPlatform, selectProcessName, selectSignals, type ProcessSignals } from '../host/select.js';

/** The platform that configurations on this machine are for. */
export function configuredPlatform(): Platform {
  return selectPlatform();
}

/** The signals that ask this process to stop or to reload. */
export function processSignals(): ProcessSignals {
  return selectSignals();
}

/** @param args  of the command line, as Node has them. Called before {@link nameProcess} */
export function givenArguments(args: readonly string[]): readonly string[] {
  return selectArguments(args);
}

/** @param args  of the command line */
export function nameProcess(args: readonly string[]): void {
  selectProcessName(args);
}

/** Gives evictd a higher scheduling priority than workloads, as far as the system permits. */
export function raisePriority(): void {
  selectHost().raisePriority();
}

/** The time that a shutdown of this machine waits for programs that hold a delay lock. */
export function readInhibitDelay(): Promise<InhibitDelay> {
  return selectHost().readInhibitDelay();
}

/**
 * The processes that the kernel's OOM killer would consider in this memory cgroup; undefined: on the machine. Throws
 * UnavailableError if there is no such cgroup.
 */
export function readOomKiller(cgroup: string | undefined): OomReading {
  const { oomKiller } = selectHost();
  if (oomKiller) return oomKiller.read(cgroup);
  throw new UnavailableError('EVICTD_HOST_LACKS', 'this system has no OOM killer', { hint: 'leave out --kernel' });
}
