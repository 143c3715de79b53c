import type { ContainerScope } from '../../core/workload/container-scope.js';

/**
 * What a lookup reads next. The answer is the text of the file, or the names in the directory, a line each; undefined:
 * it cannot be read. `owner`: only a regular file of this user counts, because the user chooses what is there.
 */
export interface Want {
  readonly kind: 'file' | 'directory';
  readonly path: string;
  readonly owner?: number;
}

/** The name of a container, that it has none, or the files in which it was not. */
export type NameFound = { readonly name: string } | { readonly isNameless: true } | { readonly lookedFor: readonly string[] };

type Lookup<T> = Generator<Want, T, string | undefined>;

/**
 * Looks for the name of a container in the state of the runtime that owns it.
 *
 * @param uid  whose runtime it is; 0: the machine's
 */
export function* lookUpName(scope: ContainerScope, uid: number): Lookup<NameFound> {
  const files = uid === 0 ? yield* filesOfRoot(scope) : filesIn(yield* homeOf(uid), scope);
  for (const path of files) {
    const text = yield { kind: 'file', path, ...(uid !== 0 && { owner: uid }) };
    const found = text === undefined ? undefined : FORMATS[scope.engine](text, scope.id);
    if (found !== undefined) return found;
  }
  return { lookedFor: files };
}

function filesOfRoot(scope: ContainerScope): Lookup<readonly string[]> {
  return scope.engine === 'docker' ? dockerFiles(scope.id) : podmanFiles();
}

/** In the home directory of a user: rootless Docker and Podman. */
function filesIn(home: string | undefined, { engine, id }: ContainerScope): readonly string[] {
  if (home === undefined) return [];
  const share = `${home}/.local/share`;
  return engine === 'docker' ? [dockerFile(`${share}/docker`, id)] : storageFiles([`${share}/containers/storage`]);
}

function dockerFile(root: string, id: string): string {
  return `${root}/containers/${id}/config.v2.json`;
}

/** moby, daemon/config: `data-root`, once `graph`, of daemon.json or the command line; the snap has its own. */
function* dockerFiles(id: string): Lookup<readonly string[]> {
  const roots = new Set<string>();
  for (const pidFile of ['/run/docker.pid', '/run/snap.docker/docker.pid']) {
    const [pid] = /^\d+/.exec((yield { kind: 'file', path: pidFile }) ?? '') ?? [];
    if (pid === undefined) continue;
    const line = (yield { kind: 'file', path: `/proc/${pid}/cmdline` }) ?? '';
    for (const [, root = ''] of line.matchAll(/\0(?:--data-root|--graph|-g)[=\0]([^\0]+)/g)) roots.add(root);
  }
  for (const file of ['/etc/docker/daemon.json', '/var/snap/docker/current/config/daemon.json']) {
    const root = dataRoot((yield { kind: 'file', path: file }) ?? '');
    if (root !== undefined) roots.add(root);
  }
  for (const root of ['/var/lib/docker', '/var/snap/docker/common/var-lib-docker']) roots.add(root);
  const files: string[] = [];
  for (const root of roots) {
    const names = ((yield { kind: 'directory', path: root }) ?? '').split('\n');
    const remapped = names.filter((name) => /^\d+\.\d+$/.test(name)); // userns-remap: UID.GID
    files.push(...['', ...remapped.map((name) => `/${name}`)].map((below) => dockerFile(root + below, id)));
  }
  return files;
}

function dataRoot(json: string): string | undefined {
  try {
    const { 'data-root': root, graph } = JSON.parse(json) as { readonly 'data-root'?: unknown; readonly graph?: unknown };
    return [root, graph].find((value): value is string => typeof value === 'string' && value.startsWith('/'));
  } catch {
    return undefined;
  }
}

/** containers/storage, docs/containers-storage.conf.5: `graphroot`, and `runroot` of a transient store. */
function* podmanFiles(): Lookup<readonly string[]> {
  const roots = new Set<string>();
  for (const path of ['/etc/containers/storage.conf', '/usr/share/containers/storage.conf']) {
    const text = (yield { kind: 'file', path }) ?? '';
    for (const [, root = ''] of text.matchAll(/^\s*(?:graphroot|runroot)\s*=\s*["'](\/[^"']+)["']/gm)) roots.add(root);
  }
  for (const root of ['/var/lib/containers/storage', '/run/containers/storage']) roots.add(root);
  return storageFiles([...roots]);
}

/** The driver's name is a part of the directory's. */
function storageFiles(roots: readonly string[]): readonly string[] {
  const directories = roots.flatMap((root) => ['overlay', 'vfs', 'btrfs', 'zfs'].map((driver) => `${root}/${driver}-containers`));
  return directories.flatMap((directory) => ['containers.json', 'volatile-containers.json'].map((file) => `${directory}/${file}`));
}

function* homeOf(uid: number): Lookup<string | undefined> {
  const lines = ((yield { kind: 'file', path: '/etc/passwd' }) ?? '').split('\n').map((line) => line.split(':'));
  const home = lines.find(([, , id]) => id === String(uid))?.[5];
  return home?.startsWith('/') ? home : undefined;
}

/** What a file says; undefined: nothing about this container. */
const FORMATS: Readonly<Record<ContainerScope['engine'], (text: string, id: string) => NameFound | undefined>> = {
  docker: inConfig,
  podman: inStorage,
};

/** {"Name": "/web", …} */
function inConfig(text: string): NameFound | undefined {
  try {
    const { Name: name } = JSON.parse(text) as { readonly Name?: unknown };
    return typeof name === 'string' && name.length > 1 ? { name: name.replace(/^\//, '') } : undefined;
  } catch {
    return undefined; // incomplete
  }
}

/** Of all containers: [{"id": …, "names": ["web"], …}, …]. */
function inStorage(text: string, id: string): NameFound | undefined {
  try {
    const all = JSON.parse(text) as readonly { readonly id?: unknown; readonly names?: readonly unknown[] }[];
    const own = all.find((container) => container.id === id);
    if (own === undefined) return undefined;
    const name = own.names?.[0];
    return typeof name === 'string' && name !== '' ? { name } : { isNameless: true };
  } catch {
    return undefined; // incomplete
  }
}
