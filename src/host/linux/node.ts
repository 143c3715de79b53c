import { existsSync } from 'node:fs';
import { cgroupDirectory, normalCgroupPath, type CgroupHierarchy } from '../../core/cgroup.js';
import type { Observation, Observations } from '../../core/observation.js';
import type { Signal } from '../../core/signal.js';
import { resolve, thresholdId, type Threshold } from '../../core/threshold.js';
import { UnavailableError } from '../../errors.js';
import type { Node, NodeIdentity, NotifierState, Wake } from '../../monitor/ports.js';
import type { Binding, FilesystemStats } from '../../native/binding.js';
import { filesystemObservations } from './filesystem.js';
import { readHierarchies, showsRootCgroup, type Hierarchies } from './hierarchies.js';
import { KernelPass, type KernelSource, type Missing } from './kernel-source.js';
import { availableOf, cgroupMemory, machineMemory, type MemoryReading, type MemorySource } from './memory.js';
import { MemoryNotifiers } from './memory-notifiers.js';
import { cgroupOomKills, machineOomKills, type OomKillCounter } from './oom-kills.js';
import { readPageSize } from './page-size.js';
import { pidsSource, type PidsReading } from './pids.js';

export interface NodeConfig {
  /** `cgroup` undefined: the machine. Else a path below the mount of the memory controller. */
  readonly node: { readonly cgroup: string | undefined };
  readonly filesystems: { readonly nodefs: string };
}

/** The node, and the hierarchy in which its workloads are found (undefined: this machine has no memory controller). */
export interface LinuxNode extends Node {
  readonly hierarchy: CgroupHierarchy | undefined;
  /** As in Node. True: something was armed or moved, so that what had crossed by then does not wake. */
  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void): boolean;
}

/**
 * Opens everything that a tick reads.
 *
 * @throws UnavailableError where the node cgroup is not there
 */
export function openNode(config: NodeConfig, native: Binding): LinuxNode {
  const hierarchies = readHierarchies();
  const { cgroup } = config.node;
  return cgroup === undefined
    ? openMachine(hierarchies, config.filesystems.nodefs, native)
    : openCgroup(hierarchies, normalCgroupPath(cgroup), config.filesystems.nodefs, native);
}

function openMachine({ memory: hierarchy }: Hierarchies, nodefs: string, native: Binding): LinuxNode {
  const v1Root = hierarchy?.version === 1 && showsRootCgroup(hierarchy) ? cgroupDirectory(hierarchy, '/') : undefined;
  const memory = hierarchy !== undefined && v1Root !== undefined ? cgroupMemory(hierarchy, '/') : machineMemory();
  return new LinuxNodeReader({
    native,
    hierarchy,
    nodefs,
    identity: { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy?.version ?? 2 },
    memory,
    pids: pidsSource(undefined),
    oomKills: machineOomKills(native),
    notifiers: new MemoryNotifiers(native, {
      nodeName: 'the machine',
      thresholdDirectory: v1Root,
      workingSet: memory.workingSet,
      pressureFile: '/proc/pressure/memory',
      eventsDirectory: undefined,
      pageSize: readPageSize(),
    }),
  });
}

function openCgroup({ memory: hierarchy, pids }: Hierarchies, path: string, nodefs: string, native: Binding): LinuxNode {
  if (hierarchy === undefined) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path}: this machine has no cgroup memory controller`, {
      hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
    });
  }
  const directory = cgroupDirectory(hierarchy, path);
  const v1 = hierarchy.version === 1;
  requireMemoryCgroup(path, directory, v1 ? 'memory.usage_in_bytes' : 'memory.current');
  const memory = cgroupMemory(hierarchy, path);
  return new LinuxNodeReader({
    native,
    hierarchy,
    nodefs,
    identity: { name: path, cgroup: path, cgroupVersion: hierarchy.version },
    memory,
    pids: pidsSource(pids && { hierarchy: pids, path }),
    oomKills: cgroupOomKills(native, hierarchy, path),
    notifiers: new MemoryNotifiers(native, {
      nodeName: path,
      thresholdDirectory: v1 ? directory : undefined,
      workingSet: memory.workingSet,
      // v1 cgroups have no pressure of their own: the machine's contains theirs.
      pressureFile: v1 ? '/proc/pressure/memory' : `${directory}/memory.pressure`,
      eventsDirectory: v1 ? undefined : directory,
      pageSize: readPageSize(),
    }),
  });
}

function requireMemoryCgroup(path: string, directory: string, usageFile: string): void {
  if (!existsSync(directory)) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path} does not exist (looked for ${directory})`, {
      hint: 'create it first, or correct node.cgroup: the path is the one below the mount of the memory controller',
    });
  }
  if (!existsSync(`${directory}/${usageFile}`)) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path} has no ${usageFile}`, {
      hint: 'the memory controller is not enabled for it: write +memory to cgroup.subtree_control of the cgroup above it',
    });
  }
}

interface Parts {
  readonly native: Binding;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly identity: NodeIdentity;
  readonly nodefs: string;
  readonly memory: MemorySource;
  readonly pids: KernelSource<PidsReading | Missing>;
  readonly oomKills: OomKillCounter;
  readonly notifiers: MemoryNotifiers;
}

class LinuxNodeReader implements LinuxNode {
  readonly identity: NodeIdentity;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly #parts: Parts;
  readonly #pass: KernelPass;
  readonly #filesystem: FilesystemStats;
  #lastMemory: MemoryReading | undefined;

  constructor(parts: Parts) {
    this.identity = parts.identity;
    this.hierarchy = parts.hierarchy;
    this.#parts = parts;
    this.#pass = new KernelPass(parts.native, [parts.memory, parts.pids]);
    this.#filesystem = new parts.native.FilesystemStats(parts.nodefs);
    this.#filesystem.request();
  }

  read(): Observations {
    const timeNs = process.hrtime.bigint();
    this.#pass.read();
    const memory = this.#pass.of(this.#parts.memory);
    const pids = this.#pass.of(this.#parts.pids);
    const filesystem = filesystemObservations(this.#parts.nodefs, this.#filesystem.read(), timeNs);
    this.#lastMemory = 'missing' in memory ? undefined : memory;
    return collect([
      [
        'memory.available',
        'missing' in memory
          ? memory
          : { available: availableOf(memory), capacity: memory.capacity, timeNs, source: this.#parts.memory.description },
      ],
      ['nodefs.available', filesystem.available],
      ['nodefs.inodesFree', filesystem.inodesFree],
      ['pid.available', 'missing' in pids ? pids : { ...pids, timeNs }],
    ]);
  }

  requestFilesystems(onDone?: () => void): void {
    this.#filesystem.request(onDone);
  }

  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void): boolean {
    if (this.#lastMemory === undefined) this.read();
    const memory = this.#lastMemory;
    if (memory === undefined) return false; // the node is gone: nothing to compute a limit from
    const limits = thresholds
      .filter((threshold) => threshold.signal === 'memory.available')
      .map((threshold) => ({ id: thresholdId(threshold), bytes: resolve(threshold.value, memory.capacity) }))
      .filter(({ bytes }) => bytes > 0n); // less than nothing is never available
    return this.#parts.notifiers.arm(limits, memory, process.hrtime.bigint(), onWake);
  }

  notifiers(): readonly NotifierState[] {
    return this.#parts.notifiers.states();
  }

  oomKills(): number | undefined {
    return this.#parts.oomKills.read();
  }

  close(): void {
    this.#parts.notifiers.close();
    this.#parts.oomKills.close();
    this.#pass.close();
    this.#filesystem.close();
  }
}

function collect(signals: readonly (readonly [Signal, Observation | Missing])[]): Observations {
  const observed = new Map<Signal, Observation>();
  const missing = new Map<Signal, string>();
  for (const [signal, result] of signals) {
    if ('missing' in result) missing.set(signal, result.missing);
    else observed.set(signal, result);
  }
  return { observed, missing };
}
