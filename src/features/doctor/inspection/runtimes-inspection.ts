import type { Config } from '../../../config/config.js';
import type { FilesystemPaths } from '../../../core/signal/layout.js';
import type { ContainerRuntime } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import type { ManagedOom } from '../../../monitor/ports/managed-oom.js';
import type { ApiServer } from '../../../node/api-server.js';
import { ContainerRuntimes } from '../../../node/container-runtimes.js';
import { askEvictd } from '../../../node/control-client.js';
import { ManagedUnitSettings } from '../../../node/managed-units.js';
import type { RuntimeFacts, InstanceFacts, ReloadFacts } from '../../../host/facts.js';
import { EvictdError, messageOf } from '../../../errors.js';
import { readAnswer } from '../../../state/request-answer.js';
import { crashesNotedIn } from '../../../state/run-file.js';
import type { CrashFacts, PauseFacts } from '../machine-facts.js';

export interface ExaminedRuntimes {
  /** The runtimes of the sources; each has answered or timed out. */
  readonly runtimes: readonly ContainerRuntime[];
  /** The filesystems that `run` would use. */
  readonly filesystems: FilesystemPaths;
  /** systemd has answered or timed out. undefined: no source selects managed units. */
  readonly managedOom?: ManagedOom | undefined;
  /** The API server has answered or timed out. undefined: not configured. */
  readonly apiServer?: ApiServer | undefined;
  close(): void;
}

/** Asks the container runtimes; none if there is no addon, because nothing can be read then. */
export async function askRuntimes(config: Config, native: Binding | undefined): Promise<ExaminedRuntimes> {
  if (native === undefined) return { runtimes: [], filesystems: config.filesystems, close: () => undefined };
  const [{ foundFilesystems }, { askApiServer }] = await Promise.all([
    import('../../../node/open-reading.js'),
    import('../../../node/api-server.js'),
  ]);
  const opened = new ContainerRuntimes();
  const managed = new ManagedUnitSettings();
  const [runtimes, managedOom, apiServer] = await Promise.all([opened.reported(config), managed.reported(config), askApiServer(config)]);
  return {
    runtimes,
    managedOom,
    apiServer,
    filesystems: await foundFilesystems(config.filesystems, runtimes),
    close: () => {
      opened.close();
      managed.close();
      apiServer?.close();
    },
  };
}

export interface LoadedAddon {
  /** undefined: it does not load. */
  readonly native: Binding | undefined;
  readonly facts: RuntimeFacts;
}

export async function loadAddon(): Promise<LoadedAddon> {
  const { arch, version, versions } = process;
  const facts = { node: version, arch, abi: versions.modules, napi: versions.napi ?? '?' };
  try {
    const { native, addonPath } = await import('../../../native/index.js');
    return { native, facts: { ...facts, addon: { file: addonPath } } };
  } catch (error) {
    const cause = error instanceof EvictdError && error.cause instanceof Error ? `: ${error.cause.message.split('\n')[0] ?? ''}` : '';
    const failure = `${messageOf(error)}${cause}`;
    return { native: undefined, facts: { ...facts, addon: { failure, hint: error instanceof EvictdError ? error.hint : undefined } } };
  }
}

export function crashesOf(instance: InstanceFacts, path: string, limit: number): CrashFacts {
  if (instance.kind !== 'running') return { crashes: 0, limit };
  try {
    return { crashes: crashesNotedIn(path), limit };
  } catch (error) {
    return { unseen: `${path}: ${messageOf(error)}` };
  }
}

/** Ignores the answer of an earlier evictd. */
export function reloadOf(instance: InstanceFacts, path: string): ReloadFacts {
  if (instance.kind !== 'running') return { refused: undefined };
  try {
    const answer = readAnswer(path);
    return { refused: answer?.pid === instance.pid ? answer.refused : undefined };
  } catch (error) {
    return { unseen: `${path}: ${messageOf(error)}` };
  }
}

const ANSWER_MS = 1_500;

/** Asks the running evictd. */
export async function pausesOf(instance: InstanceFacts, config: Config): Promise<PauseFacts> {
  if (instance.kind !== 'running') return { messages: [] };
  try {
    const answer = await askEvictd(config, { method: 'GET', path: '/api/v1/status' }, ANSWER_MS);
    if (answer === undefined) return { unseen: 'the running evictd has no control socket', hint: undefined };
    const { pauses } = answer as { readonly pauses: readonly { readonly kind: string; readonly message: string }[] };
    return { messages: pauses.flatMap(({ kind, message }) => (kind === 'operator' ? [message] : [])) };
  } catch (error) {
    return { unseen: messageOf(error), hint: error instanceof EvictdError ? error.hint : undefined };
  }
}
