/** What a container runtime tells of an image (CRI v1, Image). */
export interface RuntimeImage {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** Its runtime keeps it. */
  readonly pinned: boolean;
}

/** By what containers name their images: what they were asked for with, and what the runtime made of it. */
export interface ImageUser {
  readonly image: { readonly image: string };
  readonly imageRef: string;
}

/**
 * Images that no container stands on, running or not (kubelet: images/image_gc_manager.go, v1.36.2). Those that are pinned stay, and the one that every pod begins with: without it no pod
 * starts where no registry can be reached.
 *
 * @param sandboxImage  undefined: the runtime does not tell; then whatever is called after a pause is taken for it
 * @param isNew  whether somebody may have fetched it a moment ago for a container that he is about to make
 */
export function unusedImages<I extends RuntimeImage>(
  images: readonly I[],
  users: readonly ImageUser[],
  sandboxImage: string | undefined,
  isNew: (id: string) => boolean,
): I[] {
  const used = namesUsedBy(users);
  const sandbox = sandboxImage === undefined ? undefined : new Set(namesOf(sandboxImage));
  return images.filter((image) => {
    const names = namesOfImage(image);
    if (image.pinned || isNew(image.id) || names.some((name) => used.has(name))) return false;
    return sandbox ? !names.some((name) => sandbox.has(name)) : !names.some((name) => /(^|\/)pause\b/.test(name));
  });
}

/** Images that a container stands on, running or not. */
export function usedImages<I extends RuntimeImage>(images: readonly I[], users: readonly ImageUser[]): I[] {
  const used = namesUsedBy(users);
  return images.filter((image) => namesOfImage(image).some((name) => used.has(name)));
}

function namesOfImage({ id, repoTags, repoDigests }: RuntimeImage): string[] {
  return [id, ...repoTags, ...repoDigests].flatMap(namesOf);
}

function namesUsedBy(users: readonly ImageUser[]): ReadonlySet<string> {
  return new Set(users.flatMap(({ image, imageRef }) => [image.image, imageRef]).flatMap(namesOf));
}

/** As it is, and without what registries' default names add. A name without a tag is that of `latest`. */
function namesOf(name: string): string[] {
  if (name === '') return [];
  const short = name.replace(/^docker\.io\/(library\/)?/, '');
  const isTagged = /[:@][^/]*$/.test(short);
  return [...new Set([name, short, ...(isTagged ? [] : [`${short}:latest`])])];
}

/** By which a kubelet knows its own pods (pkg/kubelet/kuberuntime/labels.go, v1.36.2). */
const KUBELET_LABEL = 'io.kubernetes.pod.uid';

/** It was made by a kubelet, which collects what is left of its own. */
export function isOfKubelet(labels: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(labels, KUBELET_LABEL);
}
