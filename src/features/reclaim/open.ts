import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.js';
import type { ReclaimReading } from '../../core/reclaim/reclaim.js';
import type { ReclaimStep } from '../../core/reclaim/reclaim-step.js';
import { pathsByRole, type FilesystemPaths } from '../../core/signal/layout.js';
import { type DiskSignal, type ResourceSignal, filesystemOf } from '../../core/signal/signal.js';
import type { ContainerRuntime } from '../../monitor/ports/ports.js';
import { selectHost } from '../../host/select.js';
import { native } from '../../native/index.js';
import { garbageGains, gainOf, type Gain, type NamedGain } from './reclaim-gain.js';
import { devicesOf } from '../../native/filesystem-answer.js';
import { policyOf } from '../../node/configuration-in-force.js';
import { foundFilesystems } from '../../node/open-reading.js';
import { ContainerRuntimes } from '../../node/container-runtimes.js';
import { StepReclaimer } from './reclaimer.js';
import { pathsOfStep } from '../../core/reclaim/step-command.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';
import { messageOf } from '../../errors.js';

/** Runs the reclaim steps of a configuration. */
export function openReclaimer(
  { reclaim, filesystems }: Pick<Config, 'reclaim'> & { readonly filesystems: FilesystemPaths },
  runtimes: () => readonly ContainerRuntime[],
): StepReclaimer {
  const pathOf = (signal: ResourceSignal): string => pathsByRole(filesystems)[filesystemOf(signal) ?? 'nodefs'];
  return new StepReclaimer(reclaim, runtimes, selectHost().openCommandRunner(), native, pathOf);
}

/** The names of all reclaim steps, in the order in which they run. */
export function reclaimNames(config: Config): readonly string[] {
  const { collections, reclaimSteps = [] } = policyOf(config, false);
  return [...collections, ...reclaimSteps.map(({ name }) => name)];
}

/** Runs these steps at once, however much is free: for `evictd reclaim`. */
export async function reclaimNow(config: Config, names: readonly string[], signal: DiskSignal): Promise<ReclaimReading> {
  const runtimes = new ContainerRuntimes();
  try {
    const filesystems = await foundFilesystems(config.filesystems, await runtimes.reported(config));
    return await openReclaimer({ ...config, filesystems }, () => runtimes.of(config)).run(names, signal);
  } finally {
    runtimes.close();
  }
}

const FIND = '/usr/bin/find';
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** What each configured step would free, in the order in which they run. Changes nothing. */
export async function readGains(config: Config): Promise<readonly NamedGain[]> {
  const steps = config.reclaim.map(async (step): Promise<NamedGain> => ({ name: step.name, gain: await stepGain(step) }));
  return [...(await runtimeGains(config)), ...(await Promise.all(steps))];
}

async function runtimeGains(config: Config): Promise<readonly NamedGain[]> {
  const runtimes = new ContainerRuntimes();
  try {
    return garbageGains(
      await Promise.all(
        runtimes.of(config).map(async (runtime) => {
          try {
            return { endpoint: runtime.endpoint, garbage: await runtime.garbage() };
          } catch (error) {
            return { endpoint: runtime.endpoint, error: messageOf(error) };
          }
        }),
      ),
    );
  } finally {
    runtimes.close();
  }
}

async function stepGain(step: ReclaimStep): Promise<Gain> {
  const run = promisify(execFile);
  const existing = await devicesOf(native, pathsOfStep(step));
  return gainOf(
    step,
    (path) => existing.has(path),
    async (found) => {
      const options = {
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: Number(step.timeoutNs / NS_PER_MS),
        killSignal: 'SIGKILL' as const,
        env: { LC_ALL: 'C.UTF-8' },
      };
      try {
        return { output: (await run(FIND, [...found], options)).stdout, error: undefined };
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
        const [message = String(error)] = stderr.split('\n').filter((line) => line !== '');
        return { output: stdout, error: message };
      }
    },
  );
}
