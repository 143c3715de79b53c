/**
 * A node's filesystems. `single`: one for everything. `imagefs`: one for images and containers. `split`: one for
 * images, with containers on the node filesystem, reported as the container filesystem.
 */
export type Layout = 'single' | 'imagefs' | 'split';

/** Node-level reclaim: garbage whose removal hurts no workload. */
export type Collection = (typeof COLLECTIONS)[number];
export const COLLECTIONS = ['containers', 'images'] as const;

export function isCollection(name: string): name is Collection {
  return (COLLECTIONS as readonly string[]).includes(name);
}

/** The kubelet's names, in the order of its signals. */
export const FILESYSTEM_ROLES = ['nodefs', 'imagefs', 'containerfs'] as const;
export type FilesystemRole = (typeof FILESYSTEM_ROLES)[number];

/** Absolute paths of the configured roles. Default of `imagefs` is nodefs, of `containerfs` imagefs. */
export interface FilesystemPaths {
  readonly nodefs: string;
  readonly imagefs?: string | undefined;
  readonly containerfs?: string | undefined;
  /** The location of images and containers is not known yet, and has no default until it is. Read anew in each pass. */
  readonly isAwaited?: boolean;
}

export function pathsByRole({
  nodefs,
  imagefs = nodefs,
  containerfs = imagefs,
}: FilesystemPaths): Readonly<Record<FilesystemRole, string>> {
  return { nodefs, imagefs, containerfs };
}

/** st_dev of each role's path; undefined: not known (yet). */
export type Devices = Readonly<Record<FilesystemRole, bigint | undefined>>;

/**
 * The layout for these devices (kubelet: HasDedicatedImageFs, IsContainerFsSeparateFromImageFs, v1.36.2). An unknown
 * device counts as that of the role before it. `unsupported`: why the container filesystem cannot be watched.
 */
export function layoutOf(devices: Devices): { readonly layout: Layout; readonly unsupported: string | undefined } {
  const { nodefs } = devices;
  const imagefs = devices.imagefs ?? nodefs;
  const containerfs = devices.containerfs ?? imagefs;
  const dedicated = imagefs !== nodefs;
  if (containerfs === imagefs) return { layout: dedicated ? 'imagefs' : 'single', unsupported: undefined };
  if (containerfs === nodefs) return { layout: 'split', unsupported: undefined };
  return dedicated
    ? { layout: 'split', unsupported: 'unsupported layout: containers and images on separate filesystems' }
    : { layout: 'single', unsupported: 'unsupported layout: a filesystem for containers, but none for images' };
}
