/**
 * Which filesystems a node has. `single`: one for everything. `imagefs`: images and containers on one of their own. `split`: images on one of their
 * own, containers on the node filesystem, and a container filesystem is reported.
 */
export type Layout = 'single' | 'imagefs' | 'split';

/** Node-level reclaim: what can be thrown away without hurting a workload. */
export type Collection = (typeof COLLECTIONS)[number];
export const COLLECTIONS = ['containers', 'images'] as const;

export function isCollection(name: string): name is Collection {
  return (COLLECTIONS as readonly string[]).includes(name);
}

/** What a kubelet calls its filesystems, in the order of its signals. */
export const FILESYSTEM_ROLES = ['nodefs', 'imagefs', 'containerfs'] as const;
export type FilesystemRole = (typeof FILESYSTEM_ROLES)[number];

/** Absolute paths, of those roles that are configured: `imagefs` is where nodefs is unless it is named, `containerfs` where imagefs is. */
export interface FilesystemPaths {
  readonly nodefs: string;
  readonly imagefs?: string | undefined;
  readonly containerfs?: string | undefined;
  /** Where images and containers lie is going to be told: until then nothing else stands for it. Looked at anew in each pass. */
  readonly isAwaited?: boolean;
}

/** The path of each role. */
export function pathsByRole({
  nodefs,
  imagefs = nodefs,
  containerfs = imagefs,
}: FilesystemPaths): Readonly<Record<FilesystemRole, string>> {
  return { nodefs, imagefs, containerfs };
}

/** st_dev of what a role's path lies on; undefined: not known (yet). */
export type Devices = Readonly<Record<FilesystemRole, bigint | undefined>>;

/**
 * The layout that follows from the devices (kubelet: HasDedicatedImageFs, IsContainerFsSeparateFromImageFs, v1.36.2). A device that is not known counts as
 * that of the role before it, as one that is not configured does. `unsupported`: why the container filesystem cannot be watched.
 */
export function layoutOf(devices: Devices): { readonly layout: Layout; readonly unsupported: string | undefined } {
  const { nodefs } = devices;
  const imagefs = devices.imagefs ?? nodefs;
  const containerfs = devices.containerfs ?? imagefs;
  const dedicated = imagefs !== nodefs;
  if (containerfs === imagefs) return { layout: dedicated ? 'imagefs' : 'single', unsupported: undefined };
  if (containerfs === nodefs) return { layout: 'split', unsupported: undefined };
  return dedicated
    ? { layout: 'split', unsupported: 'containers on a filesystem of their own beside that of the images: a layout that is not supported' }
    : { layout: 'single', unsupported: 'containers on a filesystem of their own, and none for images: a layout that is not supported' };
}
