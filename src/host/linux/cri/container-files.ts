import { randomUUID } from 'node:crypto';
import type { CriClient } from './client.js';
import type { Table, Decoded } from './protobuf.js';
import type { Call, ListedStats, CONTAINER_STATUS } from './runtime-calls.js';
import { NOTHING_ON_DISK } from '../../../core/disk/disk-amount.js';
import { NS_PER_MS } from '../../../core/quantity/duration.js';
import type { ContainerFiles } from '../../../monitor/ports/ports.js';
import { attempt } from '../../../errors.js';

const WITHIN_MS = 60_000;
/** The life of a lease, in case evictd ends before it has deleted the lease. */
const EXPIRES_AFTER_MS = 120_000;

/** containerd's own API (api/services/leases/v1/leases.proto), in the namespace of its CRI plugin. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };
const CREATE_LEASE = {
  path: '/containerd.services.leases.v1.Leases/Create',
  input: { id: [1, 'text'], labels: [3, 'texts'] },
  output: {},
  headers: NAMESPACE,
} as const satisfies Call<Table, Table>;
const DELETE_LEASE = {
  path: '/containerd.services.leases.v1.Leases/Delete',
  input: { id: [1, 'text'], sync: [2, 'flag'] },
  output: {},
  headers: NAMESPACE,
} as const satisfies Call<Table, Table>;

/**
 * Waits until the layers of removed containers are deleted. containerd deletes them in the background, after a pause of
 * fifty times the last collection (gc/scheduler, v1.6.20). Deleting any lease with `sync` collects before the answer.
 * CRI-O has no leases and deletes layers with the container. Never rejects.
 */
export async function deleteRemovedLayers(client: CriClient): Promise<void> {
  const id = `evictd-${randomUUID()}`;
  const labels = { 'containerd.io/gc.expire': new Date(Date.now() + EXPIRES_AFTER_MS).toISOString() };
  try {
    await client.ask(CREATE_LEASE, { id, labels }, WITHIN_MS);
    await client.ask(DELETE_LEASE, { id, sync: true }, WITHIN_MS);
  } catch {
    // containerd collects by itself later
  }
}

/** A clock that NTP adjusts goes back by no more than this. */
const SLEWED_MS = 1_000;

interface Now {
  readonly monotonicNs: bigint;
  readonly unixMs: number;
}

/** @param logPaths  by container id; '': no log file */
export function containerFiles(stats: readonly ListedStats[], logPaths: ReadonlyMap<string, string>, now: Now): ContainerFiles[] {
  const bytesOf = new Map(stats.map(({ attributes, writableLayer }) => [attributes.id, writableLayer]));
  return [...logPaths].map(([id, logPath]): ContainerFiles => {
    const written = bytesOf.get(id);
    return { id, layer: written && layerOf(written, now), logPath: logPath === '' ? undefined : logPath };
  });
}

/** undefined: not measured. */
function layerOf(
  { timestamp, fsId: { mountpoint }, usedBytes, inodesUsed }: ListedStats['writableLayer'],
  now: Now,
): ContainerFiles['layer'] {
  const measuredNs = timestamp > 0 ? atNs(timestamp, now) : undefined;
  if (measuredNs === undefined || mountpoint === '') return undefined;
  const amount = isThinPool(mountpoint) ? NOTHING_ON_DISK : { bytes: BigInt(usedBytes.value), inodes: BigInt(inodesUsed.value) };
  return { directory: directoryOf(mountpoint), amount, atNs: measuredNs };
}

/** containerd's snapshotter devmapper has its layers in a pool of block devices, not in the directory that it names. */
function isThinPool(mountpoint: string): boolean {
  return mountpoint.endsWith('.devmapper');
}

/** containerd names the directory of all layers; CRI-O names the container's mount, which is an overlay and no disk. */
function directoryOf(mountpoint: string): string {
  return mountpoint.replace(/\/[^/]+\/merged$/, '');
}

/**
 * A measurement seems older by what the clock was set forward meanwhile. undefined: the clock was set back, so its age
 * is unknown.
 */
function atNs(timestampNs: number, { monotonicNs, unixMs }: Now): bigint | undefined {
  const ageMs = unixMs - timestampNs / 1e6;
  if (ageMs < -SLEWED_MS) return undefined;
  return ageMs <= 0 ? monotonicNs : monotonicNs - BigInt(Math.round(ageMs)) * NS_PER_MS;
}

/** Constant while the container exists. */
export interface ContainerPaths {
  /** linux.cgroupsPath of its OCI specification. */
  readonly cgroupsPath: string;
  /** '': no log file. */
  readonly logPath: string;
}

/**
 * The path in the verbose status of containerd and CRI-O: {"pid": …, "runtimeSpec": {"linux": {"cgroupsPath": …}}}. undefined:
 * no such path.
 */
export function containerPaths({ status, info }: Decoded<(typeof CONTAINER_STATUS)['output']>): ContainerPaths | undefined {
  const read = attempt(() => JSON.parse(info.info ?? '') as { runtimeSpec?: { linux?: { cgroupsPath?: unknown } } });
  const cgroupsPath = read?.runtimeSpec?.linux?.cgroupsPath;
  return typeof cgroupsPath === 'string' ? { cgroupsPath, logPath: status.logPath } : undefined;
}
