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
  const within = (path: string | undefined): string | undefined => path && `${root}${path}`;
  const file = within(flag(args, 'config'));
  const directory = within(flag(args, 'config-dir'));
  const [hard, soft, grace] = ['eviction-hard', 'eviction-soft', 'eviction-soft-grace-period'].map((name) => flag(args, name));
  try {
    // Loading is synchronous: wait for the filesystem first.
    for (const path of [file, directory]) if (path !== undefined) await access(path);
    const flags = {
      compatibility: 'kubelet',
      ...(hard !== undefined && { evictionHard: [hard] }),
      ...(soft !== undefined && { evictionSoft: [soft] }),
      ...(grace !== undefined && { evictionSoftGracePeriod: [grace] }),
    };
    return loadKubelet({ file, directory, flags }).config.thresholds;
  } catch {
    return undefined;
  }
}

/** '--config FILE' and '--config=FILE'. */
function flag(args: readonly string[], name: string): string | undefined {
  const index = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const found = args[index];
  return found === `--${name}` ? args[index + 1] : found?.slice(name.length + 3);
}
