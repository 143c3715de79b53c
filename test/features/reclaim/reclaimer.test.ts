import { expect, test } from 'vitest';
import type { ReclaimStep } from '../../../src/core/reclaim/reclaim-step.js';
import type { LimitedCommand } from '../../../src/core/systemd/limited-command.js';
import type { ContainerRuntime } from '../../../src/monitor/ports/ports.js';
import type { FilesystemReading, FilesystemStats } from '../../../src/native/binding.js';
import { StepReclaimer } from '../../../src/features/reclaim/reclaimer.js';

const SECOND = 1_000_000_000n;
const limits = { timeoutNs: 60n * SECOND, memoryMaxBytes: 1n << 28n };
const command = (name: string): ReclaimStep => ({
  name,
  kind: 'command',
  command: [`/bin/${name}`],
  signals: ['nodefs.available'],
  ...limits,
});

/** A disk that only the commands write to: on a real one others do, too. */
class Disk {
  free = 1000;
  errno = 0;
  hangs = false;
  /** By path; everything else is on device 1. */
  readonly devices = new Map<string, number>();
  readonly FilesystemStats: new (path: string) => FilesystemStats;

  constructor() {
    const read = (path: string): FilesystemReading => this.#read(path);
    const hangs = (): boolean => this.hangs;
    this.FilesystemStats = class implements FilesystemStats {
      readonly #path: string;
      constructor(path: string) {
        this.#path = path;
      }
      read(): FilesystemReading {
        return read(this.#path);
      }
      request(onDone?: () => void): boolean {
        if (hangs()) return false;
        if (onDone) queueMicrotask(onDone);
        return true;
      }
      close(): void {
        // Nothing is held.
      }
    };
  }

  #read(path: string): FilesystemReading {
    const { free, errno } = this;
    return {
      totalBytes: 10_000,
      freeBytes: free,
      availableBytes: free,
      inodes: 100,
      inodesFree: free / 100,
      fsType: 0,
      device: BigInt(this.devices.get(path) ?? 1),
      errno,
      atNs: 1n,
      pending: false,
      pendingSinceNs: 0n,
    };
  }
}

function reclaimer(
  steps: readonly ReclaimStep[],
  frees: Readonly<Record<string, number>>,
  errors: Readonly<Record<string, string>> = {},
  runtimes: readonly Pick<ContainerRuntime, 'endpoint' | 'collect'>[] = [],
) {
  const disk = new Disk();
  const ran: LimitedCommand[] = [];
  const runner = {
    run: (requested: LimitedCommand) => {
      ran.push(requested);
      disk.free += frees[requested.name] ?? 0;
      return Promise.resolve(errors[requested.name]);
    },
  };
  return {
    disk,
    ran,
    reclaimer: new StepReclaimer(
      steps,
      () => runtimes,
      runner,
      disk,
      () => '/',
    ),
  };
}

test('steps run one after the other with what each has freed, and a failed one does not stop the others', async () => {
  const steps = [command('a'), command('b'), command('c')];
  const { ran, reclaimer: made } = reclaimer(steps, { a: 300, c: -100 }, { b: 'it failed (timeout)' });
  expect(await made.run(['a', 'b', 'c'], 'nodefs.available')).toEqual({
    errors: ['b: it failed (timeout)'],
    yields: [
      { collection: 'a', bytes: 300n, inodes: 3n },
      { collection: 'b', bytes: 0n, inodes: 0n },
      { collection: 'c', bytes: -100n, inodes: -1n },
    ],
  });
  expect(ran).toEqual(
    ['a', 'b', 'c'].map((name) => ({
      purpose: 'reclaim',
      name,
      argv: [`/bin/${name}`],
      timeoutNs: 60n * SECOND,
      memoryMaxBytes: 1n << 28n,
    })),
  );
});

test('files on another filesystem are left unchanged', async () => {
  const files: ReclaimStep = { name: 'temporary-files', kind: 'temporary-files', olderThanNs: SECOND, ...limits };
  const { disk, ran, reclaimer: made } = reclaimer([files], {});
  disk.devices.set('/tmp', 2);
  await made.run(['temporary-files'], 'nodefs.available');
  expect(ran.map(({ argv }) => argv[1])).toEqual(['/var/tmp']);
  disk.devices.set('/var/tmp', 2);
  expect(await made.run(['temporary-files'], 'nodefs.available')).toEqual({
    errors: [],
    yields: [{ collection: 'temporary-files', bytes: 0n, inodes: 0n }],
  });
  expect(ran).toHaveLength(1);
});

test('for a filesystem that does not answer no step runs, which is reported, and evictd does not wait', async () => {
  const { disk, ran, reclaimer: made } = reclaimer([command('a')], {});
  disk.hangs = true;
  expect((await made.run(['a'], 'nodefs.available')).errors).toEqual(['a: /: it does not answer']);
  expect(ran).toEqual([]);
});

test('container runtimes collect garbage, and report what they could not delete', async () => {
  const collected: string[] = [];
  const runtime = (endpoint: string, ...errors: readonly string[]) => ({
    endpoint,
    collect: (collection: string) => {
      collected.push(`${endpoint} ${collection}`);
      return Promise.resolve(errors);
    },
  });
  const runtimes = [runtime('unix:///a'), runtime('unix:///b', 'image x: it is busy')];
  const { reclaimer: made } = reclaimer([], {}, {}, runtimes);
  expect((await made.run(['containers', 'images'], 'nodefs.available')).errors).toEqual([
    'containers: unix:///b: image x: it is busy',
    'images: unix:///b: image x: it is busy',
  ]);
  expect(collected).toEqual(['unix:///a containers', 'unix:///b containers', 'unix:///a images', 'unix:///b images']);
});

test('for a filesystem that cannot be read no step runs, which is reported', async () => {
  const { disk, ran, reclaimer: made } = reclaimer([command('a')], {});
  disk.errno = 5;
  expect((await made.run(['a'], 'nodefs.available')).errors).toEqual([expect.stringMatching(/^a: \/: EIO/)]);
  expect(ran).toEqual([]);
});

test('after a reload the steps of the new configuration run', async () => {
  const { ran, reclaimer: made } = reclaimer([command('a')], {});
  made.steps = [command('b')];
  await made.run(['a', 'b'], 'nodefs.available');
  expect(ran.map(({ name }) => name)).toEqual(['b']);
});
