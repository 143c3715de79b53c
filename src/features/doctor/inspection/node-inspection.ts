import { policySignals } from '../../../core/policy/condition-needs.js';
import type { LoadedConfig } from '../../../config/config.js';
import type { NodeFacts } from '../machine-facts.js';
import { kernelMargin } from '../../../config/lint/thresholds/kernel-first.js';
import { EvictdError } from '../../../errors.js';
import type { MachineFacts } from '../../../config/lint/machine.js';
import type { Node, Wake } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import type { FilesystemsRead } from '../../../node/machine-facts.js';
import { pause } from '../../../node/timeouts.js';
import type { ExaminedRuntimes } from './runtimes-inspection.js';

/** The kernel takes 8 to 32 ms to register a v1 threshold, one after the other. */
const ARMING_MS = 500;
const LOOK_MS = 5;

export interface ExaminedNode {
  readonly facts: NodeFacts;
  /** undefined: the node does not exist, or the addon does not load. */
  readonly machine: MachineFacts | undefined;
}

/** Opens what `run` would open, arms it as `run` would, looks, and closes all of it. */
export async function examineNode(
  loaded: LoadedConfig,
  native: Binding | undefined,
  { runtimes, filesystems, managedOom, apiServer }: ExaminedRuntimes,
  filesystemsRead: FilesystemsRead,
): Promise<ExaminedNode> {
  const without = (missing: NodeFacts['missing']): ExaminedNode => ({ facts: nodeFacts(loaded, undefined, missing), machine: undefined });
  if (native === undefined) return without({ message: 'the node cannot be read without the addon', hint: 'see process.addon' });
  const [{ openReading }, { machineFactsOf }] = await Promise.all([
    import('../../../node/open-reading.js'),
    import('../../../node/machine-facts.js'),
  ]);
  let reading: ReturnType<typeof openReading>;
  try {
    reading = openReading(loaded, 'arm', { runtimes, managedOom, nodePods: apiServer });
  } catch (error) {
    if (!(error instanceof EvictdError)) throw error;
    return without({ message: error.message, hint: error.hint });
  }
  try {
    const { node } = reading;
    node.place(filesystems);
    await filesystemsRead(node);
    await arm(node, loaded);
    const machine = await machineFactsOf(reading, loaded);
    return { facts: nodeFacts(loaded, machine), machine };
  } finally {
    reading.close();
  }
}

/** @param missing  why there is no `machine` */
export function nodeFacts({ config }: LoadedConfig, machine: MachineFacts | undefined, missing?: NodeFacts['missing']): NodeFacts {
  const isMachine = config.node.cgroup === undefined;
  return {
    name: config.node.cgroup ?? 'machine',
    isMachine,
    thresholds: config.thresholds,
    estimated: machine !== undefined && (machine.estimated === true || (isMachine && config.departures['kernel-memory'] && 'missing')),
    missing,
    capacities: machine?.capacities ?? new Map(),
    notifiers: machine?.notifiers,
    margin: kernelMargin(config, machine)?.text,
  };
}

/**
 * Waits until the kernel has registered every v1 threshold. A refused one sends no event: its reason is known when the
 * time is over.
 */
async function arm(node: Node, { config }: LoadedConfig): Promise<void> {
  let registered = 0;
  const woken = ({ source }: Wake): void => {
    if (source === 'memcg_threshold') registered += 1;
  };
  node.arm(config.thresholds, woken, policySignals(config.policies));
  const expected = node.notifiers().filter(({ mechanism, live }) => mechanism === 'memcg_threshold' && live).length;
  for (let waited = 0; registered < expected && waited < ARMING_MS; waited += LOOK_MS) await pause(LOOK_MS);
}
