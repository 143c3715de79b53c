import type { Decoded, Table } from './protobuf.js';

const NOT_FOUND = 5;
const DEADLINE_EXCEEDED = 4;

/** Treats "not found" as success: what is gone need not be removed. */
export async function unlessRemoved(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isRemoved(error)) throw error;
  }
}

export function isRemoved(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === NOT_FOUND;
}

/** The runtime's message without gRPC's words around it. */
export function runtimeMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, details } = error as Error & { readonly code?: unknown; readonly details?: unknown };
  if (code === DEADLINE_EXCEEDED) return 'no answer in time';
  const said = typeof details === 'string' && details !== '' ? details : error.message;
  return said.replace(/ Resolution note: *$/, '');
}

/**
 * The CRI calls that evictd makes. api.proto beside this file has the same messages for tests, which decode them with
 * another codec.
 */

const metadata = { name: [1, 'text'] } as const satisfies Table;
const sandbox = {
  id: [1, 'text'],
  metadata: [2, { message: { name: [1, 'text'], uid: [2, 'text'], namespace: [3, 'text'] } }],
  state: [3, 'whole'],
  labels: [5, 'texts'],
  annotations: [6, 'texts'],
} as const satisfies Table;
const imageSpec = { image: [1, 'text'] } as const satisfies Table;
const image = {
  id: [1, 'text'],
  repoTags: [2, 'words'],
  repoDigests: [3, 'words'],
  size: [4, 'whole'],
  pinned: [8, 'flag'],
} as const satisfies Table;
const container = {
  id: [1, 'text'],
  podSandboxId: [2, 'text'],
  metadata: [3, { message: metadata }],
  image: [4, { message: imageSpec }],
  imageRef: [5, 'text'],
  state: [6, 'whole'],
  labels: [8, 'texts'],
  annotations: [9, 'texts'],
} as const satisfies Table;

const amount = { message: { value: [1, 'whole'] } } as const;
/** `timestamp`: nanoseconds since 1970. */
const filesystemUsage = {
  timestamp: [1, 'whole'],
  fsId: [2, { message: { mountpoint: [1, 'text'] } }],
  usedBytes: [3, amount],
  inodesUsed: [4, amount],
} as const satisfies Table;
const containerStats = {
  attributes: [1, { message: { id: [1, 'text'] } }],
  writableLayer: [4, { message: filesystemUsage }],
} as const satisfies Table;

/** PodSandboxState SANDBOX_READY, ContainerState CONTAINER_RUNNING and CONTAINER_EXITED. */
export const SANDBOX_READY = 0;
export const CONTAINER_RUNNING = 1;
export const CONTAINER_EXITED = 2;

export interface Call<I extends Table, O extends Table> {
  readonly path: string;
  readonly input: I;
  readonly output: O;
  readonly headers?: Readonly<Record<string, string>>;
}

function call<const I extends Table, const O extends Table>(name: string, input: I, output: O, service = 'RuntimeService'): Call<I, O> {
  return { path: `/runtime.v1.${service}/${name}`, input, output };
}

export const LIST_PODS = call('ListPodSandbox', {}, { items: [1, { list: sandbox }] });
export const LIST_CONTAINERS = call('ListContainers', {}, { containers: [1, { list: container }] });
/** `info`, if verbose: the runtime's own JSON under 'info'. */
export const CONTAINER_STATUS = call(
  'ContainerStatus',
  { containerId: [1, 'text'], verbose: [2, 'flag'] },
  { status: [1, { message: { logPath: [15, 'text'] } }], info: [2, 'texts'] },
);
/** The runtime's last measurement: containerd makes one every ten seconds. */
export const LIST_STATS = call('ListContainerStats', {}, { stats: [1, { list: containerStats }] });

/** Sends its stop signal, and SIGKILL after `timeout` seconds; answers when the container has ended. */
export const STOP_CONTAINER = call('StopContainer', { containerId: [1, 'text'], timeout: [2, 'whole'] }, {});
/** Also ends the container if it runs. */
export const REMOVE_CONTAINER = call('RemoveContainer', { containerId: [1, 'text'] }, {});
/** Ends the containers that still run, and the holder of the namespaces. */
export const STOP_POD = call('StopPodSandbox', { podSandboxId: [1, 'text'] }, {});
/** Also removes its containers. */
export const REMOVE_POD = call('RemovePodSandbox', { podSandboxId: [1, 'text'] }, {});
export const VERSION = call('Version', {}, {});
/** `info`, if verbose: the runtime's own JSON; containerd has its configuration under 'config'. */
export const STATUS = call('Status', { verbose: [1, 'flag'] }, { info: [2, 'texts'] });

/** The first one counts, as in the kubelet. `containerFilesystems`: empty where they are those of the images. */
export const IMAGE_FS_INFO = call(
  'ImageFsInfo',
  {},
  { imageFilesystems: [1, { list: filesystemUsage }], containerFilesystems: [2, { list: filesystemUsage }] },
  'ImageService',
);
export const LIST_IMAGES = call('ListImages', {}, { images: [1, { list: image }] }, 'ImageService');
/** Removes all its names; the layers that containers use stay. */
export const REMOVE_IMAGE = call('RemoveImage', { image: [1, { message: imageSpec }] }, {}, 'ImageService');

export type ListedContainer = Decoded<typeof container>;
export type ListedPod = Decoded<typeof sandbox>;
export type ListedStats = Decoded<typeof containerStats>;
export type ListedImage = Decoded<typeof image>;
