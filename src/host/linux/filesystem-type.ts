/** statfs's f_type of those that have no disk (include/uapi/linux/magic.h); devtmpfs says tmpfs, too. */
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);

/** The name of a filesystem in memory; undefined: it is another one. */
export function memoryFilesystem(fsType: number): string | undefined {
  return IN_MEMORY.get(fsType);
}
