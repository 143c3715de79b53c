import { expect, test } from 'vitest';
import { ok } from '../../../src/features/doctor/check.js';
import { defineCheck, examine, lazyFacts, type CheckKind, type FactReaders } from '../../../src/features/doctor/check-kind.js';
import type { LinuxFacts } from '../../../src/features/doctor/machine-facts.js';
import { LINUX_CHECKS } from '../../../src/features/doctor/linux-checks.js';
import { cgroupFacts, memoryFacts, nodeFacts, subjectFacts, workloadFacts } from './support.js';

/** All that a new check consists of; its line in the list is below. */
const hugePagesCheck = defineCheck('kernel.huge-pages', ['kernelFile'], ({ kernelFile }) => {
  const mode = /\[(\w+)\]/.exec(kernelFile('/sys/kernel/mm/transparent_hugepage/enabled') ?? '')?.[1];
  return ok('kernel.huge-pages', `transparent huge pages: ${mode ?? 'unknown'}`);
});

const SILENT = { kind: 'unseen', unseen: 'no answer' } as const;

/** Readers that count how often evictd reads each fact. */
function counting(): { readonly readers: FactReaders<LinuxFacts>; readonly reads: Record<string, number> } {
  const reads: Record<string, number> = {};
  const values: LinuxFacts = {
    version: '1.2.0',
    runtime: { node: 'v24.0.0', arch: 'x64', abi: '137', napi: '10', addon: { file: 'evictd.node' } },
    instance: SILENT,
    reload: { refused: undefined },
    crashes: { crashes: 0, limit: 5 },
    node: nodeFacts(),
    workloads: workloadFacts(),
    kernelFile: (path) => (path.endsWith('/enabled') ? 'always [madvise] never\n' : undefined),
    kernel: { release: '6.12.0', features: { pidfd: true, 'cgroup.kill': true, process_mrelease: true } },
    pressure: { state: 'on', built: 'on', parameter: undefined, window: { shortestUs: 500_000 } },
    memory: memoryFacts(),
    kernelLog: { refused: undefined, restricted: false },
    clock: { bootId: 'b', bootTimeNs: 1n },
    cgroup: cgroupFacts(),
    subject: subjectFacts(),
    service: SILENT,
    pauses: { messages: [] },
    filesystems: { directories: [], timeoutMs: 1000 },
    reclaim: { steps: [], systemd: true },
    shutdown: { requestedNs: 0n, delay: undefined },
    daemons: { found: [], hidden: undefined },
    operators: { operators: [], unread: [] },
    apiServer: undefined,
  };
  const readers = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      () => {
        reads[name] = (reads[name] ?? 0) + 1;
        return value as unknown;
      },
    ]),
  );
  return { readers: readers as unknown as FactReaders<LinuxFacts>, reads };
}

test('a new check is one definition and one line in the list', async () => {
  const list: readonly CheckKind<LinuxFacts>[] = [...LINUX_CHECKS, hugePagesCheck];
  const checks = await examine(list, lazyFacts(counting().readers));
  expect(checks.at(-1)).toMatchObject({ id: 'kernel.huge-pages', status: 'ok', summary: 'transparent huge pages: madvise' });
  expect(checks[0]).toMatchObject({ id: 'kernel.version' });
});

test('a check reads only the facts that it declares', async () => {
  const { readers, reads } = counting();
  await examine([hugePagesCheck], lazyFacts(readers));
  expect(reads).toEqual({ kernelFile: 1 });
});

test('a fact that several checks use is read once', async () => {
  const { readers, reads } = counting();
  await examine(LINUX_CHECKS, lazyFacts(readers));
  expect(new Set(Object.values(reads))).toEqual(new Set([1]));
  expect(Object.keys(reads).sort()).toEqual(Object.keys(readers).sort());
});

test('an error of a reader is the error of the examination', async () => {
  const { readers } = counting();
  const failing = {
    ...readers,
    memory: () => {
      throw new Error('/proc/meminfo: EACCES');
    },
  };
  await expect(examine(LINUX_CHECKS, lazyFacts<LinuxFacts>(failing))).rejects.toThrow('/proc/meminfo: EACCES');
});
