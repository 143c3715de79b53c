import type { LoadedConfig } from '../../config/config.js';
import { selectHost } from '../../host/select.js';
import type { UnitManager, WorkloadSource } from '../../monitor/ports/ports.js';
import { AWAIT_ANSWER_NS } from '../../monitor/next-look.js';
import { withUnitStops } from '../../workloads/systemd/unit-stops.js';
import { pause } from '../../node/timeouts.js';
import type { HostReading } from '../../node/open-reading.js';
import { openRuntimeReading } from '../../node/runtime-reading.js';
import { unitProtection } from '../../node/unit-protection.js';

const POLL_MS = 20;

/**
 * Opens what a shutdown is planned with, for a single reading. systemd has answered about the units or timed out, too.
 */
export async function openShutdownReading(
  loaded: LoadedConfig,
  units: UnitManager = selectHost().openUnitManager(),
  open = openRuntimeReading,
): Promise<HostReading> {
  let reading: HostReading | undefined;
  const close = (): void => {
    reading?.close();
    units.close();
  };
  try {
    reading = await open(loaded, units);
    // This process is not the evictd that would end the workloads, so its own cgroup does not matter.
    const workloads = withUnitStops(reading.workloads, units, unitProtection(loaded.config, undefined));
    await awaitAnswers(workloads);
    return { ...reading, workloads, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function awaitAnswers(source: WorkloadSource): Promise<void> {
  const turn = { sinceNs: process.hrtime.bigint() };
  const { usages, awaited } = source.candidates();
  const isAwaited = (): boolean => usages.map(({ workload }) => awaited?.(workload, AWAIT_ANSWER_NS, turn)).includes(true);
  while (isAwaited()) await pause(POLL_MS);
}
