import type { ContainerEngine, ContainerScope } from '../../core/workload/container-scope.js';
import { attempt } from '../../errors.js';

/**
 * What a lookup reads next. The answer is the text of the file, the names in the directory, a line each, or '' where
 * something is there; undefined: it cannot be read, or nothing is there.
 */
export interface Want {
  readonly kind: 'file' | 'directory' | 'presence';
  readonly path: string;
  /**
   * A user chooses what is there. Only a regular file of one of these owners counts, of at most so many bytes; only the
   * first so many names of a directory.
   */
  readonly ofUser?: { readonly owners: readonly number[]; readonly limit: number };
}

/** containers.json has a KiB for each container. */
const MAX_STATE_BYTES = 4 * 1024 * 1024;
/** The maximum for all files of one lookup: parsing takes evictd's time. */
const MAX_PARSED_BYTES = 2 * MAX_STATE_BYTES;
const MAX_CONFIGURATION_BYTES = 64 * 1024;
const MAX_NAMES = 64;
/** The maximum number of directories that a user's configuration names. */
const MAX_ROOTS = 16;

/** The name of a container, that it has none, or the files in which it was not. */
export type NameFound = { readonly name: string } | { readonly isNameless: true } | { readonly lookedFor: readonly string[] };

type Lookup<T> = Generator<Want, T, string | undefined>;

/** A user with a runtime; undefined: the machine's. */
type Runner = { readonly uid: number; readonly name: string; readonly home: string } | undefined;

/**
 * Looks for the name of a container in the state of the runtime that owns it. The cgroup of a user without a runtime is
 * no container, whatever its name.
 *
 * @param uid  whose runtime it is; 0: the machine's
 */
export function* lookUpName({ engines, id }: ContainerScope, uid: number): Lookup<NameFound> {
  const runner = uid === 0 ? undefined : yield* runnerOf(uid);
  if (uid !== 0 && runner === undefined) return (yield* hasRuntime(uid, [])) ? { lookedFor: [USERS] } : { isNameless: true };
  const lookedFor: string[] = [];
  let parsed = 0;
  for (const engine of engines) {
    const { filesOf, nameIn } = ENGINES[engine];
    for (const path of yield* filesOf(id, runner)) {
      const text = yield { kind: 'file', path, ...(uid !== 0 && { ofUser: { owners: [uid], limit: MAX_STATE_BYTES } }) };
      lookedFor.push(path);
      parsed += text?.length ?? 0;
      if (uid !== 0 && parsed > MAX_PARSED_BYTES) return { lookedFor };
      const found = text === undefined ? undefined : nameIn(text, id);
      if (found !== undefined) return found;
    }
  }
  const configured = engines.flatMap((engine) => ENGINES[engine].ofUser ?? []).map((file) => `${runner?.home ?? ''}/.config/${file}`);
  return uid === 0 || (yield* hasRuntime(uid, [...lookedFor, ...configured])) ? { lookedFor } : { isNameless: true };
}

/** Whether a runtime directory of these files exists, or one of a running runtime: `runroot` of Podman, `exec-root` of Docker. */
function* hasRuntime(uid: number, files: readonly string[]): Lookup<boolean> {
  const roots = files.map((file) => file.replace(STATE, ''));
  const running = ['containers', 'docker', 'containerd'].map((name) => `/run/user/${String(uid)}/${name}`);
  for (const path of new Set([...running, ...roots])) if ((yield { kind: 'presence', path }) !== undefined) return true;
  return false;
}

/** The part of a path behind the root of the runtime. */
const STATE = /\/(?:containers\/[^/]+\/config\.v2\.json|[a-z]+-containers\/[^/]+|io\.containerd\.runtime\.v2\.task(?:\/.*)?)$/;

const USERS = '/etc/passwd';

function* runnerOf(uid: number): Lookup<Runner> {
  const lines = ((yield { kind: 'file', path: USERS }) ?? '').split('\n').map((line) => line.split(':'));
  const [name = '', , , , , home] = lines.find(([, , id]) => id === String(uid)) ?? [];
  return home?.startsWith('/') ? { uid, name, home } : undefined;
}

interface Engine {
  readonly filesOf: (id: string, runner: Runner) => Lookup<readonly string[]>;
  /** Files in ~/.config of a user of the runtime. If one exists, containers may have names although none is found. */
  readonly ofUser?: readonly string[];
  /** undefined: the file says nothing about this container. */
  readonly nameIn: (text: string, id: string) => NameFound | undefined;
}

const ENGINES: Readonly<Record<ContainerEngine, Engine>> = {
  docker: { filesOf: dockerFiles, nameIn: inConfig, ofUser: ['docker/daemon.json'] },
  podman: { filesOf: storageFiles, nameIn: inStorage, ofUser: ['containers/storage.conf', 'containers/storage.conf.d'] },
  nerdctl: { filesOf: taskFiles, nameIn: inSpecification },
  containerd: { filesOf: taskFiles, nameIn: inSpecification },
  'cri-o': { filesOf: storageFiles, nameIn: inStorage },
};

/** The text of a configuration of root, or of a user or root. */
function* configuration(path: string, runner: Runner): Lookup<string> {
  return (yield { kind: 'file', path, ...ofUser(runner, MAX_CONFIGURATION_BYTES) }) ?? '';
}

/** The names in a directory; none where it cannot be read. */
function* namesIn(path: string, runner: Runner): Lookup<readonly string[]> {
  return ((yield { kind: 'directory', path, ...ofUser(runner, MAX_NAMES) }) ?? '').split('\n').filter((name) => name !== '');
}

function ofUser(runner: Runner, limit: number): Pick<Want, 'ofUser'> {
  return runner === undefined ? {} : { ofUser: { owners: [runner.uid, 0], limit } };
}

/** moby, daemon/config: `data-root`, once `graph`, of daemon.json or the command line; the snap has its own. */
function* dockerFiles(id: string, runner: Runner): Lookup<readonly string[]> {
  const roots = new Set<string>();
  const share = runner && `${runner.home}/.local/share/docker`;
  const files = runner ? [`${runner.home}/.config/docker/daemon.json`] : yield* dockerConfigurations(roots);
  for (const file of files) {
    const root = dataRoot(yield* configuration(file, runner));
    if (root !== undefined) roots.add(withoutSlash(root));
  }
  for (const root of share === undefined ? ['/var/lib/docker', '/var/snap/docker/common/var-lib-docker'] : [share]) roots.add(root);
  const found: string[] = [];
  for (const root of roots) {
    const names = runner ? [] : yield* namesIn(root, undefined);
    const remapped = names.filter((name) => /^\d+\.\d+$/.test(name)); // userns-remap: UID.GID
    found.push(...['', ...remapped.map((name) => `/${name}`)].map((below) => `${root}${below}/containers/${id}/config.v2.json`));
  }
  return found;
}

/** Adds the roots of running daemons. */
function* dockerConfigurations(roots: Set<string>): Lookup<readonly string[]> {
  const files: string[] = [];
  for (const pidFile of ['/run/docker.pid', '/run/snap.docker/docker.pid']) {
    const [pid] = /^\d+/.exec((yield { kind: 'file', path: pidFile }) ?? '') ?? [];
    if (pid === undefined) continue;
    const line = (yield { kind: 'file', path: `/proc/${pid}/cmdline` }) ?? '';
    for (const [, root = ''] of line.matchAll(/\0(?:--data-root[=\0]|--graph[=\0]|-g[=\0]?)(\/[^\0]+)/g)) roots.add(withoutSlash(root));
    for (const [, file = ''] of line.matchAll(/\0--config-file[=\0](\/[^\0]+)/g)) files.push(file);
  }
  return [...files, '/etc/docker/daemon.json', '/var/snap/docker/current/config/daemon.json'];
}

function dataRoot(text: string): string | undefined {
  const { 'data-root': root, graph } = objectIn(text) ?? {};
  return [root, graph].find((value): value is string => typeof value === 'string' && value.startsWith('/'));
}

/**
 * containers-storage.conf(5) and containers-config(5): `graphroot`, and `runroot` of a transient store, of storage.conf and
 * the drop-ins in storage.conf.d, storage.rootful.conf.d and storage.rootless.conf.d. For users `rootless_storage_path`,
 * also of root's configuration, and variables in all of them. The driver's name is a part of the directory's.
 */
function* storageFiles(_id: string, runner: Runner): Lookup<readonly string[]> {
  const roots = new Set<string>();
  for (const place of ['/etc/containers/storage', '/usr/share/containers/storage']) {
    const ofAll = yield* storageConfiguration([`${place}.conf`], [`${place}.conf.d`], undefined);
    for (const root of pathsIn(ofAll, runner ? 'rootless_storage_path' : ROOTS, runner)) roots.add(root);
    const directories = runner
      ? ['', `/${String(runner.uid)}`].map((own) => `${place}.rootless.conf.d${own}`)
      : [`${place}.rootful.conf.d`];
    for (const root of pathsIn(yield* storageConfiguration([], directories, undefined), `${ROOTS}|rootless_storage_path`, runner))
      roots.add(root);
  }
  if (runner !== undefined) {
    const place = `${runner.home}/.config/containers/storage`;
    const text = yield* storageConfiguration([`${place}.conf`], [`${place}.conf.d`], runner);
    for (const root of pathsIn(text, `${ROOTS}|rootless_storage_path`, runner).slice(-MAX_ROOTS)) roots.add(root);
  }
  const defaults = runner
    ? [`${runner.home}/.local/share/containers/storage`, `/run/user/${String(runner.uid)}/containers`]
    : ['/var/lib/containers/storage', '/run/containers/storage'];
  const directories = [...roots, ...defaults].flatMap((root) =>
    ['overlay', 'vfs', 'btrfs', 'zfs'].map((driver) => `${root}/${driver}-containers`),
  );
  return directories.flatMap((directory) => ['containers.json', 'volatile-containers.json'].map((file) => `${directory}/${file}`));
}

const ROOTS = 'graphroot|runroot';

/** The texts of the files, and of the drop-ins in the directories: those that are not there are empty. */
function* storageConfiguration(files: readonly string[], directories: readonly string[], runner: Runner): Lookup<string> {
  const all = [...files];
  for (const directory of directories) {
    const names = yield* namesIn(directory, runner);
    all.push(...names.filter((name) => name.endsWith('.conf')).map((name) => `${directory}/${name}`));
  }
  const texts: string[] = [];
  for (const file of all) texts.push(yield* configuration(file, runner));
  return texts.join('\n');
}

/** containerd, core/runtime/v2: the specification of each task, below `state` of config.toml. `moby`: Docker's. */
function* taskFiles(id: string, runner: Runner): Lookup<readonly string[]> {
  const configured = runner ? [] : pathsIn(yield* configuration('/etc/containerd/config.toml', undefined), 'state', undefined);
  const defaults = runner ? [`/run/user/${String(runner.uid)}/containerd`] : CONTAINERD;
  const files: string[] = [];
  for (const root of new Set([...configured, ...defaults])) {
    const tasks = `${root}/io.containerd.runtime.v2.task`;
    const namespaces = yield* namesIn(tasks, runner);
    files.push(...namespaces.filter((namespace) => namespace !== 'moby').map((namespace) => `${tasks}/${namespace}/${id}/config.json`));
  }
  return files.length === 0 ? [`${[...configured, ...defaults][0] ?? ''}/io.containerd.runtime.v2.task`] : files;
}

/** containerd itself, in k3s and RKE2, in k0s, in MicroK8s. */
const CONTAINERD = ['/run/containerd', '/run/k3s/containerd', '/run/k0s/containerd', '/var/snap/microk8s/common/run/containerd'];

/** Paths that these keys have in a TOML document. */
function pathsIn(text: string, keys: string, runner: Runner): readonly string[] {
  const values = [...text.matchAll(new RegExp(`^\\s*["']?(?:${keys})["']?\\s*=\\s*["']([^"']+)["']`, 'gm'))].map(([, value = '']) => value);
  const variables: Readonly<Record<string, string>> = runner ? { HOME: runner.home, USER: runner.name, UID: String(runner.uid) } : {};
  const paths = values.map((value) =>
    value.replace(/\$(?:\{(\w+)\}|(\w+))/g, (all, a?: string, b?: string) => variables[a ?? b ?? ''] ?? all),
  );
  return paths.filter((path) => path.startsWith('/')).map(withoutSlash);
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = attempt(() => JSON.parse(text.replace(/^\uFEFF/, '')) as unknown); // may be incomplete
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** {"Name": "/web", …} */
function inConfig(text: string): NameFound | undefined {
  const { Name: name } = objectIn(text) ?? {};
  return typeof name === 'string' && name.length > 1 ? { name: name.replace(/^\//, '') } : undefined;
}

/** Finds an id in the list of all containers: [{"id": …, "names": ["web"], …}, …]. CRI-O's are k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. */
function inStorage(text: string, id: string): NameFound | undefined {
  const all = objectIn(text);
  const own = Array.isArray(all) ? (all as readonly ({ readonly id?: unknown; readonly names?: readonly unknown[] } | null)[]) : [];
  const found = own.find((container) => container?.id === id);
  if (found === undefined) return undefined;
  const name = found?.names?.[0];
  if (typeof name !== 'string' || name === '') return { isNameless: true };
  const [, container, pod, namespace] = /^k8s_([^_]+)_([^_]+)_([^_]+)_[^_]+_\d+$/.exec(name) ?? [];
  return { name: namespace === undefined ? name : podName(namespace, pod, container === 'POD' ? undefined : container) };
}

/** {"annotations": {"nerdctl/name": "web"}}, or those of CRI (containerd, pkg/cri/annotations). */
function inSpecification(text: string): NameFound | undefined {
  const found = objectIn(text);
  if (found === undefined) return undefined;
  const { annotations = {} } = found as { readonly annotations?: Readonly<Record<string, unknown>> | null };
  const [own, namespace, pod, container] = ['nerdctl/name', ...CRI].map((key) => {
    const value = annotations?.[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  });
  if (own !== undefined) return { name: own };
  return namespace === undefined || pod === undefined ? { isNameless: true } : { name: podName(namespace, pod, container) };
}

const CRI = ['sandbox-namespace', 'sandbox-name', 'container-name'].map((key) => `io.kubernetes.cri.${key}`);

/** The name that a `cri` source gives it. */
function podName(namespace: string, pod: string | undefined, container: string | undefined): string {
  return [namespace, pod, container].filter((part) => part !== undefined).join('/');
}
