// The native contract, what reads (see binding.d.ts).

/**
 * How a kernel file is read.
 * `number`: one decimal number ("max" reads as Infinity). `keyed`: "key value" lines (memory.stat, memory.events) and "Key: value kB" lines (meminfo;
 * kB become bytes), one value per key. `pressure`: PSI, eight values: some avg10, avg60, avg300 (percent), total (µs), then full.
 * `loadavg`: one value, the number of existing tasks (the denominator of the fourth field). `occupied`: one value, 1 if the file (cgroup.procs) lists
 * anything, else 0; opened for each reading, because v1 answers an open one from a list that it made before.
 * `directory`, in a CgroupTable: 0 (the default) for the cgroup, n for the n-th path `beside` it.
 */
export type FileSpec = { readonly path: string; readonly directory?: number } & (
  { readonly format: 'number' | 'pressure' | 'loadavg' | 'occupied' } | { readonly format: 'keyed'; readonly keys: readonly string[] }
);

/**
 * Files opened once; `read()` is one pass of preads. Fields stand in `values` in order of the specs; a field that cannot be read is NaN, `errors[file]`
 * has its errno (positive), else 0. EBADMSG: text that the kernel would not write. ENODATA: a key or a PSI line is not in the file, the other
 * fields are good.
 */
export interface FileReader {
  readonly values: Float64Array;
  readonly errors: Int32Array;
  /** Reopens what was missing. Never throws for a file's trouble. */
  read(): void;
  close(): void;
}
export interface FileReaderConstructor {
  new (files: readonly FileSpec[]): FileReader;
}

/**
 * Many cgroups, the same files in each, in one pass. `columns` are the specs' fields in order, with paths relative to the cgroup.
 * Row r's fields stand at `values[r * columns + c]`; `errors[r]` is the first errno of the row (ENODEV: the cgroup was removed). A field that is not
 * known is NaN. What lies beside the cgroup and is not there is no error of the row.
 */
export interface CgroupTable {
  readonly columns: number;
  /** Cgroups in the table. Rows are numbered from 0; the lowest unused one is taken. */
  readonly size: number;
  /** One more than the largest row number that was ever used: for how many rows the arrays must have room. */
  readonly rowCount: number;
  /**
   * Opens the cgroup; returns its row. Rows are reused after `remove`. Throws ENOENT and the like.
   * `beside`: the directories of the same cgroup in other hierarchies (v1), whether or not they are there.
   */
  add(cgroup: string, beside?: readonly string[]): number;
  /** The cgroup's id: the inode of its directory, increasing with creation. */
  id(row: number): bigint;
  remove(row: number): void;
  /**
   * Reads all rows, or the given ones, into arrays of the caller's, and allocates nothing. Rows not in use become NaN and ENODEV. Never throws for a
   * cgroup's trouble; a RangeError, before anything is read, for an array that is too short and for a given row that is not in use.
   *
   * @param files  bit f: read the table's file f; the fields of the others stay as they are, and `errors` tells of those that were read. Default: all.
   */
  read(values: Float64Array, errors: Int32Array, rows?: Uint32Array, files?: number): void;
  close(): void;
}
export interface CgroupTableConstructor {
  /** At most 32 files. `maxOpenFiles`: beyond this many kept descriptors rows are opened for each read. Default: half of RLIMIT_NOFILE. */
  new (files: readonly FileSpec[], options?: { maxOpenFiles?: number }): CgroupTable;
}

/**
 * statfs of one mount on a helper thread, because it may hang: one thread per path and environment at most. Whoever opens a path that still hangs takes part
 * in the request that is under way.
 */
export interface FilesystemStats {
  /**
   * The newest result: total, free and available (to unprivileged) bytes, inodes and free inodes (0/0 where the filesystem has none), the time it
   * was taken (`atNs`, 0n: none yet) and its errno (0: fine). `pending`: a request is under way, since `pendingSinceNs`
   * (from before this object, where it takes part in an older one).
   */
  read(): FilesystemReading;
  /**
   * Asks for a new one. `onDone` is called when it arrived, never from inside a call. While one that was asked for here is pending the call has no effect at all: false,
   * and its `onDone` is dropped; one that a sampler asked for is none. A pending request does not keep the event loop alive: the filesystem may never answer.
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
 * What a directory and all below it take, as `du` counts it, walked on a thread of the lowest priority: allocated blocks and inodes, hard links once, symbolic
 * links not followed, nothing that is mounted below. `close()` gives it up. A walk does not keep the event loop alive: the directory may never answer.
 */
export interface DirectoryUsage {
  close(): void;
}
export interface DirectoryUsageResult {
  bytes: number;
  inodes: number;
  /** What could not be read and is not in the sum, and the first errno (positive). What vanished meanwhile is none. */
  errors: number;
  errno: number;
  /** false: the directory could not be opened, or one below was moved away while the walk was in it. The rest is not in the sum. */
  complete: boolean;
  /** st_dev of the directory; 0n: it could not be opened. */
  device: bigint;
}
export interface DirectoryUsageConstructor {
  /** `onDone` is called once, unless it was closed. Throws EAGAIN where 16 of this environment are under way, those included that were closed and hang. */
  new (path: string, onDone: (result: DirectoryUsageResult) => void): DirectoryUsage;
}

/**
 * What processes hold open on a filesystem though it is deleted, looked for on a thread of the lowest priority by the descriptors of all processes: regular files
 * without a name, each once. `close()` gives it up. It does not keep the event loop alive.
 */
export interface DeletedFiles {
  close(): void;
}
export interface DeletedFilesResult {
  /** Files that the same processes hold, together: their space comes back when the last of these is gone. Allocated bytes. */
  groups: { pids: number[]; bytes: number; inodes: number }[];
  /** Processes of which not all descriptors could be looked at: what they hold is not in it. Who ended meanwhile is none. */
  unreadable: number;
  /** false: the filesystem is not there, /proc cannot be listed, or there are more than 100,000 such files. */
  complete: boolean;
  /** st_dev of the filesystem; 0n: it is not there. */
  device: bigint;
}
export interface DeletedFilesConstructor {
  /** `path`: any on the filesystem. `onDone` is called once, unless it was closed. Throws EAGAIN as DirectoryUsage does, and counts with FilesystemTree. */
  new (path: string, onDone: (result: DeletedFilesResult) => void): DeletedFiles;
}

/**
 * The largest directories of a filesystem, each with all below it, walked and counted as a DirectoryUsage is. `close()` gives it up. It does not keep the event
 * loop alive.
 */
export interface FilesystemTree {
  close(): void;
}
export interface FilesystemTreeLimits {
  /** Levels below the root of the filesystem that are told; what lies deeper counts for those above it. */
  readonly depth: number;
  /** Of what is in use on the filesystem: what has less than one such part of its bytes and of its inodes is not told. */
  readonly parts: number;
  /** It is given up after so long, and after so many entries; what it has counted by then is told. */
  readonly withinMs: number;
  readonly entries: number;
}
export interface FilesystemTreeResult {
  /** The root first, which is the directory highest above the path that is on its device; none: the path cannot be opened. At most 4097. */
  directories: { path: string; bytes: number; inodes: number }[];
  errors: number;
  errno: number;
  /** false: given up at a limit, or a directory was moved meanwhile. What was not reached is in no sum. */
  complete: boolean;
  /** st_dev; 0n: the path cannot be opened. */
  device: bigint;
}
export interface FilesystemTreeConstructor {
  /** `path`: any on the filesystem. `onDone` is called once, unless it was closed. Throws EAGAIN as DirectoryUsage does, and counts with DeletedFiles. */
  new (path: string, onDone: (result: FilesystemTreeResult) => void, limits: FilesystemTreeLimits): FilesystemTree;
}
