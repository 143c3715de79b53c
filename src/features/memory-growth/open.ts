import type { StepInput } from '../../core/decide/step-input.js';
import { selectHost, type Host, type LinuxNode } from '../../host/select.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';
import { native } from '../../native/index.js';

/** Reads what holds memory outside the workloads. undefined: that cannot be read here. */
export function outsideReader(
  { hierarchy, identity }: Pick<LinuxNode, 'identity' | 'hierarchy'>,
  workloads: Pick<WorkloadSource, 'holding'>,
  { readMemoryHoldings: read }: Pick<Host, 'readMemoryHoldings'> = selectHost(),
): NonNullable<StepInput['outside']> {
  return (above) => read?.(native, hierarchy, identity.cgroup, above, (path) => workloads.holding(path) !== undefined);
}
