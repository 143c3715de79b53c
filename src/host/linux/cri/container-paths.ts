import type { CONTAINER_STATUS } from './calls.js';
import type { Decoded } from './protobuf.js';

/** What does not change as long as a container is there. */
export interface ContainerPaths {
  /** linux.cgroupsPath of its OCI specification. */
  readonly cgroupsPath: string;
  /** '': it is not logged to a file. */
  readonly logPath: string;
}

/** Of the verbose status, as containerd and CRI-O have it: {"pid": …, "runtimeSpec": {"linux": {"cgroupsPath": …}}}. undefined: it has no such path. */
export function containerPaths({ status, info }: Decoded<(typeof CONTAINER_STATUS)['output']>): ContainerPaths | undefined {
  try {
    const { runtimeSpec } = JSON.parse(info.info ?? '') as { runtimeSpec?: { linux?: { cgroupsPath?: unknown } } };
    const cgroupsPath = runtimeSpec?.linux?.cgroupsPath;
    return typeof cgroupsPath === 'string' ? { cgroupsPath, logPath: status.logPath } : undefined;
  } catch {
    return undefined;
  }
}
