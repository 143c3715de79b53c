import { type DaemonFacts, type DaemonsFacts, isUnseen } from '../../../host/facts.js';
import type { DoctorReaders } from '../../../host/select.js';
import type { Timeouts } from '../../../node/timeouts.js';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { loadKubelet } from '../../../config/load.js';
import type { Threshold } from '../../../core/threshold/threshold.js';

const TIMEOUT_MS = 1_800;

export async function examineDaemons(doctor: DoctorReaders, timeouts: Timeouts): Promise<DaemonsFacts> {
  const found = doctor.findDaemons().map(async (seen): Promise<DaemonFacts> => {
    const silent = { unseen: 'no answer in time' };
    const daemon = (await timeouts.within(TIMEOUT_MS, (signal) => doctor.readDaemon(seen, signal))) ?? {
      ...seen,
      arguments: silent,
      settings: silent,
    };
    const { name, pid, arguments: args } = daemon;
    const isKubelet = name === 'kubelet' && !isUnseen(args);
    return {
      ...daemon,
      thresholds: isKubelet ? await timeouts.within(TIMEOUT_MS, () => kubeletThresholds(`/proc/${String(pid)}/root`, args)) : undefined,
    };
  });
  return { found: await Promise.all(found), hidden: doctor.hiddenProcesses() };
}

/**
 * The thresholds of a kubelet, from its file, its drop-ins and its flags. undefined: unknown: the file is not readable, or the
 * kubelet is part of another program (k3s). Does not resolve if the file's filesystem hangs. Never rejects.
 *
 * @param root  the root directory of the kubelet, which may run in a container
 */
export async function kubeletThresholds(
  root: string,
  [program = '', ...args]: readonly string[],
): Promise<readonly Threshold[] | undefined> {
  if (basename(program) !== 'kubelet') return undefined;
  const given = kubeletFlags(args);
  if (given === undefined) return undefined;
  // An empty path is none.
  const within = (name: 'config' | 'config-dir'): string | undefined => {
    const path = given.get(name)?.at(-1);
    return path === undefined || path === '' ? undefined : root + path;
  };
  const [file, directory] = [within('config'), within('config-dir')];
  try {
    // Loading is synchronous: wait for the filesystem first.
    for (const path of [file, directory]) if (path !== undefined) await access(path);
    const flags = {
      compatibility: 'kubelet',
      ...Object.fromEntries(MAP_FLAGS.flatMap(([name, key]) => (given.has(name) ? [[key, given.get(name)]] : []))),
    };
    return loadKubelet({ file, directory, flags }).config.thresholds;
  } catch {
    return undefined;
  }
}

/** Repeated, these add to one map. */
const MAP_FLAGS = [
  ['eviction-hard', 'evictionHard'],
  ['eviction-soft', 'evictionSoft'],
  ['eviction-soft-grace-period', 'evictionSoftGracePeriod'],
  ['eviction-minimum-reclaim', 'evictionMinimumReclaim'],
] as const;
const READ_FLAGS: ReadonlySet<string> = new Set(['config', 'config-dir', ...MAP_FLAGS.map(([name]) => name)]);

/**
 * The values of these flags, in their order, as the kubelet reads them: `--name value` and `--name=value`; `_` in a name is `-`
 * (component-base/cli/flag, WordSepNormalizeFunc). undefined: a value is missing, with which no kubelet starts.
 */
function kubeletFlags(args: readonly string[]): ReadonlyMap<string, readonly string[]> | undefined {
  const values = new Map<string, readonly string[]>();
  for (let index = 0; index < args.length; index += 1) {
    const [, written = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(args[index] ?? '') ?? [];
    const name = written.replaceAll('_', '-');
    if (!READ_FLAGS.has(name)) continue;
    if (inline === undefined) index += 1;
    const value = inline ?? args[index];
    if (value === undefined) return undefined;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
}
