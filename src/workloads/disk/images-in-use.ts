import type { ImageHolder } from '../../core/disk/filesystem-holders.js';
import type { ContainerRuntime } from '../../monitor/ports/ports.js';

type ImagesReporter = Pick<ContainerRuntime, 'endpoint' | 'usedImages'>;

/** Images that containers use, as runtimes last reported. */
export class ImagesInUse {
  /** Reported holders of images, by endpoint. */
  #reported: ReadonlyMap<string, readonly ImageHolder[]> = new Map();

  constructor(private readonly runtimes: () => readonly ImagesReporter[]) {}

  get holders(): readonly ImageHolder[] {
    return [...this.#reported.values()].flat();
  }

  /** Asks all runtimes. Never rejects: without an answer the last one stays, and the source reports the problem. */
  async refresh(): Promise<void> {
    const answers = this.runtimes().map(async (runtime): Promise<[string, readonly ImageHolder[]]> => {
      const { endpoint } = runtime;
      try {
        return [endpoint, (await runtime.usedImages()).map(holderOf)];
      } catch {
        return [endpoint, this.#reported.get(endpoint) ?? []];
      }
    });
    this.#reported = new Map(await Promise.all(answers));
  }
}

function holderOf({ id, repoTags, repoDigests, size }: Awaited<ReturnType<ImagesReporter['usedImages']>>[number]): ImageHolder {
  return { kind: 'image', name: [...repoTags, ...repoDigests, id][0] ?? id, holds: { bytes: BigInt(size), inodes: 0n } };
}
