import { WATCHED_PART } from '../../core/policy/condition-lead.js';
import { testsOf } from '../../core/policy/condition-needs.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { STALL_KINDS, STALL_RESOURCES, type StallKind, type StallResource } from '../../core/signal/signal.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { PSI_PERIOD_US } from '../../host/linux/pressure/pressure.js';
import { thresholdTrigger, type StallTrigger } from '../../host/linux/pressure/psi-trigger.js';
import type { Binding } from '../../native/binding.js';
import { minBigInt } from '../../core/quantity/integer.js';

const PERIOD_NS = BigInt(PSI_PERIOD_US) * 1_000n;

/** What makes a condition about the pressure of the node worth a look. */
export interface PressureTrigger {
  readonly resource: StallResource;
  readonly kind: StallKind;
  /** Billionths of the wall time: of the smallest limit of all conditions. */
  readonly share: bigint;
  /** The shortest of all conditions, at most the kernel's period of averages: so often it wakes while tasks stall. */
  readonly windowNs: bigint;
}

/** One for each resource and kind that conditions compare with a lower bound. */
export function triggersOf(policies: readonly ConfiguredPolicy[]): readonly PressureTrigger[] {
  const found = new Map<string, PressureTrigger>();
  for (const test of policies.flatMap(({ when }) => testsOf(when))) {
    if (test.kind !== 'comparison' || test.metric.of !== 'node' || !test.comparison.startsWith('>') || test.amount.kind !== 'share')
      continue;
    const [name, , text] = test.metric.name.split('.');
    const [resource, kind] = [STALL_RESOURCES.find((one) => one === name), STALL_KINDS.find((one) => one === text)];
    if (resource === undefined || kind === undefined || !test.metric.name.includes('.pressure.')) continue;
    const share = BigInt(Math.floor(test.amount.ratio * WATCHED_PART * 1e9));
    const windowNs = minBigInt(test.windowNs ?? PERIOD_NS, PERIOD_NS);
    const key = `${resource} ${kind}`;
    const before = found.get(key) ?? { share, windowNs };
    found.set(key, { resource, kind, share: minBigInt(before.share, share), windowNs: minBigInt(before.windowNs, windowNs) });
  }
  return [...found.values()];
}

/** Wakes when the pressure of the node rises, before it makes a condition true. Without them evictd looks more often. */
export class PressureTriggers {
  readonly #triggers: ReadonlyMap<string, StallTrigger>;

  /**
   * @param memory  undefined: no cgroups
   * @param node  the node's cgroup; undefined: the machine
   */
  constructor(
    native: Binding,
    { memory, node }: { readonly memory: CgroupHierarchy | undefined; readonly node: string | undefined },
    policies: readonly ConfiguredPolicy[],
    wake: () => void,
  ) {
    // A v1 cgroup has no pressure of its own: as with thresholds, it is the machine's.
    const directory = node === undefined || memory?.version !== 2 ? undefined : cgroupDirectory(memory, node);
    const triggers = triggersOf(policies).map(({ resource, kind, share, windowNs }) => {
      const file = directory === undefined ? `/proc/pressure/${resource}` : `${directory}/${resource}.pressure`;
      const signal = `${resource}.pressure.${kind}` as const;
      return [signal, thresholdTrigger(native, file, { signal, share }, windowNs, wake)] as const;
    });
    this.#triggers = new Map(triggers);
    this.arm();
  }

  /** Tries again what could not be armed. */
  arm(): void {
    for (const trigger of this.#triggers.values()) trigger.arm();
  }

  /** 'memory.pressure.full': what wakes now. */
  get live(): ReadonlySet<string> {
    return new Set([...this.#triggers].filter(([, trigger]) => trigger.state().live).map(([signal]) => signal));
  }

  close(): void {
    for (const trigger of this.#triggers.values()) trigger.close();
  }
}
