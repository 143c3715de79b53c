// The native contract: reading (see binding.d.ts).

/**
 * How a kernel file is read. `number`: one decimal number ("max" is Infinity). `keyed`: "key value" lines (memory.stat,
 * memory.events) and "Key: value kB" lines (meminfo; kB become bytes), a value per key. `kstat`: the same with a number
 * for the type before the value (/proc/spl/kstat). `nested`: "8:0 key=value …" lines (io.stat), a value per key, added up
 * over the lines; 0 where no line has it. `pressure`: PSI, eight values: some avg10, avg60, avg300 (percent),
 * total (µs), then full. `loadavg`: the number of existing tasks (the denominator of the fourth field). `occupied`: 1 if
 * the file (cgroup.procs) is not empty, else 0; opened for each reading, because v1 keeps the list of an open file.
 * `directory`, in a CgroupTable: 0 (the default) for the cgroup, n for the n-th path `beside` it.
 */
export type FileSpec = { readonly path: string; readonly directory?: number } & (
  | { readonly format: 'number' | 'pressure' | 'loadavg' | 'occupied' }
  | { readonly format: 'keyed' | 'kstat' | 'nested'; readonly keys: readonly string[] }
);

/**
 * Files opened once; `read()` is one pass of preads. `values` has the fields in order of the specs, NaN where
 * unreadable; `errors[file]` is a positive errno or 0. EBADMSG: not the kernel's format. ENODATA: a key or PSI line is
 * missing, the other fields are good.
 */
export interface FileReader {
  readonly values: Float64Array;
  readonly errors: Int32Array;
  /** Reopens missing files. Never throws for a file's error. */
  read(): void;
  close(): void;
}
export interface FileReaderConstructor {
  new (files: readonly FileSpec[]): FileReader;
}

/**
 * Many cgroups with the same files, in one pass. `columns`: the specs' fields in order, with paths relative to the
 * cgroup. Field c of row r is `values[r * columns + c]`, NaN where unknown; `errors[r]` is the row's first errno
 * (ENODEV: the cgroup was removed). A missing file beside the cgroup is not an error.
 */
export interface CgroupTable {
  readonly columns: number;
  /** Cgroups in the table. The lowest unused row number is taken. */
  readonly size: number;
  /** The largest row number so far, plus 1: the room that arrays need. */
  readonly rowCount: number;
  /**
   * Opens the cgroup and returns its row. Rows are reused after `remove`. Throws ENOENT and the like. `beside`: the
   * same cgroup's directories in other hierarchies (v1), existing or not.
   */
  add(cgroup: string, beside?: readonly string[]): number;
  /** The inode of the cgroup's directory, increasing with creation. */
  id(row: number): bigint;
  remove(row: number): void;
  /**
   * Reads all or the given rows into the caller's arrays, and allocates nothing. Unused rows are NaN and ENODEV. Never
   * throws for a cgroup's error; throws a RangeError, before it reads, for a short array or an unused row.
   *
   * @param files bit f: read file f; other fields stay, and `errors` has only the files that were read. Default: all.
   */
  read(values: Float64Array, errors: Int32Array, rows?: Uint32Array, files?: number): void;
  close(): void;
}
export interface CgroupTableConstructor {
  /**
   * At most 32 files. `maxOpenFiles`: rows beyond this many descriptors are opened for each read. Default: half of
   * RLIMIT_NOFILE.
   */
  new (files: readonly FileSpec[], options?: { maxOpenFiles?: number }): CgroupTable;
}

/**
 * statfs of a mount on a helper thread, because it may hang: at most one thread per path and environment. A second
 * object for a path that hangs shares the pending request.
 */
export interface FilesystemStats {
  /**
   * The newest result: total, free and available (unprivileged) bytes, inodes and free inodes (0/0: the filesystem has
   * none), its time (`atNs`, 0n: none yet) and errno (0: fine). `pending`: a request is pending since `pendingSinceNs`
   * (before this object, if it is shared).
   */
  read(): FilesystemReading;
  /**
   * Makes a request; `onDone` is called at its answer, never inside a call. false: one made here is pending, and
   * `onDone` is dropped; a sampler's request does not count. Does not keep the event loop alive: the filesystem may
   * never answer.
   */
  request(onDone?: () => void): boolean;
  close(): void;
}
export interface FilesystemReading {
  totalBytes: number;
  freeBytes: number;
  availableBytes: number;
  inodes: number;
  inodesFree: number;
  fsType: number;
  device: bigint;
  errno: number;
  atNs: bigint;
  pending: boolean;
  pendingSinceNs: bigint;
}
export interface FilesystemStatsConstructor {
  new (path: string): FilesystemStats;
}

/**
 * The usage of a directory as `du` counts it, walked on a thread of the lowest priority: allocated blocks and inodes,
 * hard links once, no symbolic links, no other mounts. `close()` gives up. Does not keep the event loop alive: the
 * directory may never answer.
 */
export interface DirectoryUsage {
  close(): void;
}
export interface DirectoryUsageResult {
  bytes: number;
  inodes: number;
  /** Unreadable entries, which the sum lacks, and the first errno (positive). Vanished ones do not count. */
  errors: number;
  errno: number;
  /** false: the directory could not be opened, or one below was moved during the walk, and the rest is missing. */
  complete: boolean;
  /** st_dev of the directory; 0n: it could not be opened. */
  device: bigint;
}
export interface DirectoryUsageConstructor {
  /**
   * `onDone` is called once, unless closed. Throws EAGAIN where 16 walks of this environment run, including closed ones
   * that hang.
   */
  new (path: string, onDone: (result: DirectoryUsageResult) => void): DirectoryUsage;
}

/**
 * Deleted files of a filesystem that processes hold open, each once, found by the descriptors of all processes on a
 * thread of the lowest priority. `close()` gives up. Does not keep the event loop alive.
 */
export interface DeletedFiles {
  close(): void;
}
export interface DeletedFilesResult {
  /** Files that the same processes hold: their space is freed when the last of these has ended. Allocated bytes. */
  groups: { pids: number[]; bytes: number; inodes: number }[];
  /** Processes with unreadable descriptors, which the result lacks. Ended ones do not count. */
  unreadable: number;
  /**
   * false: no such filesystem, /proc cannot be listed, more than 100,000 such files, or more than 1,000,000 holders of
   * all files together. `groups` lacks a file with a holder too many.
   */
  complete: boolean;
  /** st_dev of the filesystem; 0n: no such filesystem. */
  device: bigint;
}
export interface DeletedFilesConstructor {
  /**
   * `path`: any on the filesystem. `onDone` is called once, unless closed. Throws EAGAIN as DirectoryUsage, together
   * with FilesystemTree.
   */
  new (path: string, onDone: (result: DeletedFilesResult) => void): DeletedFiles;
}

/**
 * The largest directories of a filesystem with their content, counted as in DirectoryUsage. `close()` gives up. Does
 * not keep the event loop alive.
 */
export interface FilesystemTree {
  close(): void;
}
export interface FilesystemTreeLimits {
  /** Levels below the root that are reported; deeper ones count for their parents. */
  readonly depth: number;
  /** A directory with less than this fraction (1/parts) of the used bytes and inodes is not reported. */
  readonly parts: number;
  /** It gives up after this time, and after this many entries, and reports what it has. */
  readonly withinMs: number;
  readonly entries: number;
}
export interface FilesystemTreeResult {
  /**
   * The root first: the highest directory above the path on its device; empty: the path cannot be opened. At most 4097.
   */
  directories: { path: string; bytes: number; inodes: number }[];
  errors: number;
  errno: number;
  /** false: given up at a limit, or a directory was moved meanwhile; the rest is missing. */
  complete: boolean;
  /** st_dev; 0n: the path cannot be opened. */
  device: bigint;
}
export interface FilesystemTreeConstructor {
  /**
   * `path`: any on the filesystem. `onDone` is called once, unless closed. Throws EAGAIN as DirectoryUsage, together
   * with DeletedFiles.
   */
  new (path: string, onDone: (result: FilesystemTreeResult) => void, limits: FilesystemTreeLimits): FilesystemTree;
}
