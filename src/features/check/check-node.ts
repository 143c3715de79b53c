import type { Config, LoadedConfig } from '../../config/config.js';
import { filesystemOf, isDiskSignal, isOwnAmount, type Signal } from '../../core/signal/signal.js';
import { isListed, operandsOf, type Threshold } from '../../core/threshold/threshold.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { selectsPods } from '../../workloads/kinds/source-spec.js';
import { checkReport, type CheckReport, type Clock } from './check-report.js';
import * as narrow from './signal-thresholds.js';

export interface CheckReadings {
  readonly open: OpenReading;
  /** Also asks the container runtimes where images lie, for at most 5 s. */
  readonly openPlaced: OpenReading;
}

/** The readings of this machine. */
export const READINGS_HERE: CheckReadings = {
  open: async (loaded) => (await import('../../node/open-reading.js')).openReading(loaded, 'probe'),
  openPlaced: async (loaded) => (await import('../../node/runtime-reading.js')).openNodeReading(loaded),
};

/**
 * Compares the node with the thresholds once.
 *
 * Throws what opening a reading throws.
 */
export async function checkNode(
  loaded: LoadedConfig,
  { open, openPlaced }: CheckReadings,
  { withStalls = false, isNarrow = false }: { readonly withStalls?: boolean; readonly isNarrow?: boolean } = {},
): Promise<CheckReport> {
  const reading = await (asksRuntimes(loaded.config) ? openPlaced : open)(loaded);
  try {
    const { node, workloads } = reading;
    const { thresholds } = loaded.config;
    const operands = thresholds.flatMap(operandsOf);
    const filesystems = operands.some(({ signal }) => isDiskSignal(signal)) ? filesystemsRead(node) : undefined;
    // Only to report what can be armed, which one threshold per signal shows.
    const first = (wanted: Signal): Threshold[] =>
      thresholds.filter((threshold) => threshold.signal === wanted && !isListed(threshold)).slice(0, 1);
    const others = thresholds.filter((threshold) => isListed(threshold) || isOwnAmount(threshold.signal));
    node.arm([...first('memory.available'), ...first('allocatableMemory.available'), ...others], () => undefined);
    await filesystems;
    const observations = node.read();
    return checkReport({
      node: node.identity,
      observations: isNarrow ? narrow.narrowed(observations, thresholds) : observations,
      thresholds,
      isNarrow,
      notifiers: node.notifiers(),
      ...(withStalls && { stalls: node.stalls?.() ?? [] }),
      problems: workloads.problems(),
      notices: loaded.notices,
      clock: clockNow(),
    });
  } finally {
    reading.close();
  }
}

/** Whether a threshold needs the filesystem of images, which only a container runtime knows. */
function asksRuntimes({ workloads, filesystems, thresholds }: Config): boolean {
  if (filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return false;
  if (!selectsPods(workloads)) return false;
  return thresholds.flatMap(operandsOf).some(({ signal }) => isDiskSignal(signal) && filesystemOf(signal) !== 'nodefs');
}

export function clockNow(): Clock {
  return { monotonicNs: process.hrtime.bigint(), wallMs: Date.now() };
}
