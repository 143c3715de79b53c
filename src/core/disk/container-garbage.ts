/** An image of a container runtime (CRI v1, Image). */
export interface RuntimeImage {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** The runtime never removes it. */
  readonly pinned: boolean;
}

/** The image names of a container: as requested, and as the runtime resolved it. */
export interface ImageUser {
  readonly image: { readonly image: string };
  readonly imageRef: string;
}

/**
 * Images that no container uses, running or not (kubelet: images/image_gc_manager.go, v1.36.2). Pinned images stay. The
 * sandbox image stays too: without it no pod starts when no registry is reachable.
 *
 * @param sandboxImage  undefined: the runtime does not report it; then every image named `pause` stays
 * @param isNew  whether it may have been pulled a moment ago for a container that does not exist yet
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

/** Images that a container uses, running or not. */
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

/** The name as written, and without the default registry. A name without a tag means `latest`. */
function namesOf(name: string): string[] {
  if (name === '') return [];
  const short = name.replace(/^docker\.io\/(library\/)?/, '');
  const isTagged = /[:@][^/]*$/.test(short);
  return [...new Set([name, short, ...(isTagged ? [] : [`${short}:latest`])])];
}

/** The label of a kubelet's own pods (pkg/kubelet/kuberuntime/labels.go, v1.36.2). */
const KUBELET_LABEL = 'io.kubernetes.pod.uid';

/** A kubelet made it. The kubelet collects its own garbage. */
export function isOfKubelet(labels: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(labels, KUBELET_LABEL);
}
