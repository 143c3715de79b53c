import { isCollection, type Collection } from '../../core/signal/layout.js';
import type { CollectionYield, ReclaimReading } from '../../core/reclaim/reclaim.js';
import type { ReclaimStep } from '../../core/reclaim/reclaim-step.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import { errnoText } from '../../errors.js';
import type { CommandRunner, ContainerRuntime, Reclaimer } from '../../monitor/ports/ports.js';
import type { Binding, FilesystemReading } from '../../native/binding.js';
import { readFilesystem, devicesOf } from '../../native/filesystem-answer.js';
import { pathsOfStep, stepCommands } from '../../core/reclaim/step-command.js';

type Collector = Pick<ContainerRuntime, 'endpoint' | 'collect'>;

/**
 * Asks container runtimes to collect garbage, runs the configured steps, and measures what each frees on the signal's
 * filesystem.
 */
export class StepReclaimer implements Reclaimer {
  constructor(
    /** The steps of the configuration in force. */
    public steps: readonly ReclaimStep[],
    private readonly runtimes: () => readonly Collector[],
    private readonly runner: CommandRunner,
    private readonly native: Pick<Binding, 'FilesystemStats'>,
    private readonly pathOf: (signal: ResourceSignal) => string,
  ) {}

  async run(collections: readonly string[], signal: ResourceSignal): Promise<ReclaimReading> {
    const errors: string[] = [];
    const yields: CollectionYield[] = [];
    const filesystem = new this.native.FilesystemStats(this.pathOf(signal));
    try {
      for (const collection of collections) {
        const step = this.steps.find(({ name }) => name === collection);
        const before = await readFilesystem(filesystem);
        const problem = readError(before);
        if (problem !== undefined) errors.push(`${collection}: ${this.pathOf(signal)}: ${problem}`);
        else if (isCollection(collection)) errors.push(...(await this.#collect(collection)));
        else if (step && before) errors.push(...(await this.#carryOut(step, before.device)));
        const after = problem === undefined ? await readFilesystem(filesystem) : undefined;
        const gained = before && after && readError(after) === undefined;
        yields.push({
          collection,
          bytes: gained ? BigInt(after.freeBytes - before.freeBytes) : 0n,
          inodes: gained ? BigInt(after.inodesFree - before.inodesFree) : 0n,
        });
      }
    } finally {
      filesystem.close();
    }
    return { errors, yields };
  }

  async #collect(collection: Collection): Promise<string[]> {
    const answers = this.runtimes().map(async (runtime) => {
      const failed = await runtime.collect(collection);
      return failed.map((error) => `${collection}: ${runtime.endpoint}: ${error}`);
    });
    return (await Promise.all(answers)).flat();
  }

  async #carryOut(step: ReclaimStep, device: bigint): Promise<string[]> {
    const errors: string[] = [];
    const devices = await devicesOf(this.native, pathsOfStep(step));
    for (const { argv, path } of stepCommands(step, (candidate) => devices.has(candidate))) {
      if (path !== undefined && devices.get(path) !== device) continue;
      const { name, timeoutNs, memoryMaxBytes } = step;
      const error = await this.runner.run({ purpose: 'reclaim', name, argv, timeoutNs, memoryMaxBytes });
      if (error !== undefined) errors.push(`${name}: ${error}`);
    }
    return errors;
  }
}

function readError(reading: FilesystemReading | undefined): string | undefined {
  if (reading === undefined) return 'it does not answer';
  return reading.errno === 0 ? undefined : errnoText(reading.errno);
}
