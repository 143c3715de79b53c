import type { LoadedConfig } from '../../../config/config.js';
import type { NodeFacts, SourceFacts } from '../machine-facts.js';
import { EvictdError } from '../../../errors.js';
import type { MachineFacts } from '../../../config/lint/machine.js';
import type { Node, Wake } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import type { FilesystemsRead } from '../../../node/machine-facts.js';
import { pause } from '../../../node/timeouts.js';
import type { ExaminedRuntimes } from './runtimes-inspection.js';
import { readSources } from './workloads-inspection.js';

/** The kernel takes 8 to 32 ms to register a v1 threshold, one after the other. */
const ARMING_MS = 500;
const LOOK_MS = 5;

export interface ExaminedNode {
  readonly facts: NodeFacts;
  readonly sources: readonly SourceFacts[];
  /** undefined: the node does not exist, or the addon does not load. */
  readonly machine: MachineFacts | undefined;
}

/** Opens what `run` would open, arms it as `run` would, looks, and closes all of it. */
export async function examineNode(
  loaded: LoadedConfig,
  native: Binding | undefined,
  { runtimes, filesystems, managedOom }: ExaminedRuntimes,
  filesystemsRead: FilesystemsRead,
): Promise<ExaminedNode> {
  const { config } = loaded;
  const facts = {
    name: config.node.cgroup ?? 'machine',
    isMachine: config.node.cgroup === undefined,
    thresholds: config.thresholds,
    monitoringIntervalNs: config.monitoringIntervalNs,
  };
  const nothing = { ...facts, capacities: new Map(), absent: new Map(), notifiers: undefined } as const;
  if (native === undefined) {
    const missing = { message: 'the node cannot be read without the addon', hint: 'see process.addon' };
    return { facts: { ...nothing, missing }, sources: [], machine: undefined };
  }
  const [{ openReading, openSources }, { machineFactsOf }] = await Promise.all([
    import('../../../node/open-reading.js'),
    import('../../../node/machine-facts.js'),
  ]);
  const sources = { runtimes, managedOom };
  let reading: ReturnType<typeof openReading>;
  try {
    reading = openReading(loaded, 'arm', sources);
  } catch (error) {
    if (!(error instanceof EvictdError)) throw error;
    return { facts: { ...nothing, missing: { message: error.message, hint: error.hint } }, sources: [], machine: undefined };
  }
  try {
    const { node } = reading;
    node.place(filesystems);
    await filesystemsRead(node);
    await arm(node, loaded);
    const machine = await machineFactsOf(reading, loaded);
    const estimated = machine.estimated === true || (facts.isMachine && config.departures['kernel-memory'] && 'missing');
    return {
      facts: {
        ...facts,
        estimated,
        missing: undefined,
        capacities: machine.capacities,
        absent: machine.absent,
        notifiers: node.notifiers(),
      },
      sources: readSources(loaded, (alone) => openSources(alone, node, false, sources)),
      machine,
    };
  } finally {
    reading.close();
  }
}

/**
 * Waits until the kernel has registered every v1 threshold. A refused one sends no event: its reason is known when the
 * time is over.
 */
async function arm(node: Node, { config }: LoadedConfig): Promise<void> {
  let registered = 0;
  node.arm(config.thresholds, ({ source }: Wake) => {
    if (source === 'memcg_threshold') registered += 1;
  });
  const expected = node.notifiers().filter(({ mechanism, live }) => mechanism === 'memcg_threshold' && live).length;
  for (let waited = 0; registered < expected && waited < ARMING_MS; waited += LOOK_MS) await pause(LOOK_MS);
}
