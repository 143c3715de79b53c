import { unusedImages, usedImages } from '../../../core/disk/container-garbage.js';
import type { Collection } from '../../../core/signal/layout.js';
import {
  CONTAINER_EXITED,
  LIST_CONTAINERS,
  LIST_IMAGES,
  LIST_PODS,
  REMOVE_CONTAINER,
  REMOVE_IMAGE,
  REMOVE_POD,
  SANDBOX_READY,
  STATUS,
  STOP_POD,
  type ListedContainer,
  type ListedImage,
  type ListedPod,
  runtimeMessage,
  unlessRemoved,
} from './runtime-calls.js';
import type { Kubelet } from '../process/kubelet.js';
import type { CriClient } from './client.js';
import { deleteRemovedLayers } from './container-files.js';

const ANSWERED_WITHIN_MS = 5_000;
const REMOVED_WITHIN_MS = 60_000;
/** The kubelet's MinAge (images/image_gc_manager.go, v1.36.2). */
const NEW_NS = 120_000_000_000n;

/** What a runtime keeps without use: ended containers, pods without containers, images without containers. */
export interface Garbage {
  readonly containers: readonly string[];
  readonly pods: readonly string[];
  readonly images: readonly ListedImage[];
}

/** Finds and removes garbage. Where a kubelet manages pods, it is left to the kubelet. */
export class GarbageCollection {
  /** When an image was first listed, monotonic clock; the images of the first list count as old. */
  #since: ReadonlyMap<string, bigint> | undefined;

  constructor(private readonly kubelet: Kubelet) {}

  /** Notes which images exist, to know the new ones. */
  async look(client: CriClient): Promise<readonly ListedImage[]> {
    const { images } = await client.ask(LIST_IMAGES, {}, ANSWERED_WITHIN_MS);
    const before = this.#since;
    const nowNs = process.hrtime.bigint();
    this.#since = new Map(images.map(({ id }) => [id, before === undefined ? nowNs - NEW_NS : (before.get(id) ?? nowNs)]));
    return images;
  }

  async used(client: CriClient): Promise<readonly ListedImage[]> {
    const [images, { containers }] = await Promise.all([this.look(client), client.ask(LIST_CONTAINERS, {}, ANSWERED_WITHIN_MS)]);
    return usedImages(images, containers);
  }

  async find(client: CriClient): Promise<Garbage> {
    const images = await this.look(client);
    const listed = await this.#list(client);
    return { ...deadIn(listed), images: await this.#unused(client, images, listed) };
  }

  /** Removes one kind of garbage; resolves with what failed. Rejects where the lists cannot be had. */
  async collect(client: CriClient, collection: Collection): Promise<readonly string[]> {
    const errors: string[] = [];
    const attempt = async (what: string, removal: Promise<unknown>): Promise<void> => {
      await unlessRemoved(removal).catch((error: unknown) => {
        errors.push(`${what}: ${runtimeMessage(error)}`);
      });
    };
    if (collection === 'images') {
      const images = await this.look(client);
      for (const { id } of await this.#unused(client, images, await this.#list(client))) {
        await attempt(`image ${id}`, client.ask(REMOVE_IMAGE, { image: { image: id } }, REMOVED_WITHIN_MS));
      }
      return errors;
    }
    const { containers, pods } = deadIn(await this.#list(client));
    for (const containerId of containers) {
      await attempt(`container ${containerId}`, client.ask(REMOVE_CONTAINER, { containerId }, REMOVED_WITHIN_MS));
    }
    for (const podSandboxId of pods) {
      await attempt(`pod ${podSandboxId}`, client.ask(STOP_POD, { podSandboxId }, REMOVED_WITHIN_MS));
      await attempt(`pod ${podSandboxId}`, client.ask(REMOVE_POD, { podSandboxId }, REMOVED_WITHIN_MS));
    }
    if (containers.length > 0 || pods.length > 0) await deleteRemovedLayers(client);
    return errors;
  }

  async #list(client: CriClient): Promise<Listed> {
    const [{ items: pods }, { containers }] = await Promise.all([
      client.ask(LIST_PODS, {}, ANSWERED_WITHIN_MS),
      client.ask(LIST_CONTAINERS, {}, ANSWERED_WITHIN_MS),
    ]);
    return { pods, containers, isOfKubelet: await this.kubelet.manages([...pods, ...containers]) };
  }

  /** @param images  listed before the containers, so that a container started since is among those */
  async #unused(client: CriClient, images: readonly ListedImage[], { containers, isOfKubelet }: Listed): Promise<readonly ListedImage[]> {
    if (isOfKubelet) return [];
    const sandboxImage = await sandboxImageOf(client);
    const nowNs = process.hrtime.bigint();
    const isNew = (id: string): boolean => nowNs - (this.#since?.get(id) ?? nowNs) < NEW_NS;
    return unusedImages(images, containers, sandboxImage, isNew);
  }
}

interface Listed {
  readonly pods: readonly ListedPod[];
  readonly containers: readonly ListedContainer[];
  readonly isOfKubelet: boolean;
}

function deadIn({ pods, containers, isOfKubelet }: Listed): Omit<Garbage, 'images'> {
  if (isOfKubelet) return { containers: [], pods: [] };
  const left = new Set(containers.filter(({ state }) => state !== CONTAINER_EXITED).map(({ podSandboxId }) => podSandboxId));
  return {
    containers: containers.filter(({ state }) => state === CONTAINER_EXITED).map(({ id }) => id),
    pods: pods.filter(({ id, state }) => state !== SANDBOX_READY && !left.has(id)).map(({ id }) => id),
  };
}

/** The sandbox image as containerd reports it; undefined: another runtime, which pins it. */
async function sandboxImageOf(client: CriClient): Promise<string | undefined> {
  try {
    const { info } = await client.ask(STATUS, { verbose: true }, ANSWERED_WITHIN_MS);
    const { sandboxImage } = JSON.parse(info.config ?? '{}') as { readonly sandboxImage?: unknown };
    return typeof sandboxImage === 'string' && sandboxImage !== '' ? sandboxImage : undefined;
  } catch {
    return undefined;
  }
}
