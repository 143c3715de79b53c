import * as z from 'zod/mini';
import { BootFile } from '../../storage/boot-file.js';
import { writtenInteger } from '../../storage/written-number.js';

interface SavedPods<Time> {
  readonly node: string;
  readonly confirmedBootNs: Time;
  readonly pods: readonly string[];
}

/** The last known pods. */
export type PodsFile = BootFile<SavedPods<bigint>, SavedPods<string>>;

const VERSION = 1;

/** Not in the agent: its bundle would have a zod of its own. */
export function openPodsFile(path: string, bootId: string): PodsFile {
  return new BootFile(path, bootId, VERSION, () =>
    z.object({ node: z.string(), confirmedBootNs: writtenInteger(), pods: z.array(z.string()) }),
  );
}
