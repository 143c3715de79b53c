import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { native } from '../../src/native/index.js';
import { cgroup2, hasCgroup2, hasMemoryV1, makeCgroup, makeDirectory, memoryV1 } from './kernel.js';

/**
 * An expression for each class of the addon that makes an object with everything open that it can have, for scripts of
 * their own process or worker, where `native` is the addon and `wake` a callback. What the machine has not got is left
 * out.
 */
export type Everything = Readonly<Record<string, readonly string[]>>;

const canReadKernelLog = ((): boolean => {
  try {
    new native.KernelLog(() => undefined).close();
    return true;
  } catch {
    return false;
  }
})();

const LOADAVG = "{ path: '/proc/loadavg', format: 'loadavg' }";

/** With cgroups and files that are removed after the test. */
export function everything(): Everything {
  const v1 = (open: (cgroup: string) => string) => (hasMemoryV1 ? [open(JSON.stringify(makeCgroup(memoryV1)))] : []);
  const v2 = (open: (cgroup: string) => string) => (hasCgroup2 ? [open(JSON.stringify(makeCgroup(cgroup2)))] : []);
  const either = (open: (cgroup: string) => string) => (hasMemoryV1 ? v1(open) : v2(open));
  // Another one each time: processes and workers side by side would lock each other out.
  const lock = `${JSON.stringify(join(makeDirectory(), 'lock'))} + Math.random()`;
  return {
    MemcgThreshold: v1((cgroup) => `new native.MemcgThreshold(${cgroup}, 1n << 20n, wake)`),
    OomControl: v1((cgroup) => `new native.OomControl(${cgroup}, wake)`),
    MemcgEvents: v2((cgroup) => `new native.MemcgEvents(${cgroup}, 'cgroup.events', wake)`),
    PsiTrigger: [`new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 1900000, windowUs: 2000000 }, wake)`],
    Sampler: [
      `new native.Sampler({ files: [${LOADAVG}], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [1] }, wake)`,
      `new native.Sampler({ filesystem: new native.FilesystemStats('/'), field: 'availableBytes', maxRatePerSecond: 1, limits: [0] }, wake)`,
    ],
    CgroupTree: either((cgroup) => `new native.CgroupTree(${cgroup}, wake)`).concat(either((cgroup) => `new native.CgroupTree(${cgroup})`)),
    ProcessExit: ['new native.ProcessExit([process.pid, process.ppid], wake)'],
    KernelLog: canReadKernelLog ? ['new native.KernelLog(wake)'] : [],
    FileReader: [`new native.FileReader([${LOADAVG}])`],
    CgroupTable: either((cgroup) => {
      const number = hasMemoryV1 ? 'notify_on_release' : 'cgroup.max.depth';
      const files = `[{ path: 'cgroup.procs', format: 'occupied' }, { path: '${number}', format: 'number' }]`;
      const read = 'table.read(new Float64Array(2), new Int32Array(1))';
      return `(() => { const table = new native.CgroupTable(${files}); table.add(${cgroup}); ${read}; return table; })()`;
    }),
    FilesystemStats: [`(() => { const stats = new native.FilesystemStats('/'); stats.request(wake); return stats; })()`],
    DirectoryUsage: [`new native.DirectoryUsage('/usr', wake)`],
    FilesystemTree: [`new native.FilesystemTree('/usr', wake, { depth: 3, parts: 100, withinMs: 10000, entries: 1000000 })`],
    DeletedFiles: [`new native.DeletedFiles('/', wake)`],
    CgroupHandle: either((cgroup) => `new native.CgroupHandle(${cgroup})`),
    Pidfd: ['new native.Pidfd(process.pid)'],
    ChildProgram: ['new native.ChildProgram({ program: "/bin/sleep", arguments: ["1000"], environment: [] }, wake)'],
    FileStatuses: ['new native.FileStatuses(["/", "/proc/self/exe"], wake)'],
    MemoryReaper: either(
      (cgroup) =>
        `(() => { const reaper = new native.MemoryReaper(); new native.CgroupHandle(${cgroup}).signal(0, reaper); return reaper; })()`,
    ),
    StandingOrder: either((cgroup) => {
      const value = `{ files: [${LOADAVG}], weights: [1] }`;
      const candidate = `{ cgroup: ${cgroup}, id, value: ${value}, offset: 0, record: Buffer.from('x'), elsewhere: [] }`;
      const plan = `{ conditions: [{ value: ${value}, atLeast: 1e9 }], settlesNs: 1n, candidates: [${candidate}], attributes: [], afterNs: 1n, unexplainedNs: 1n, slack: 0, expiresNs: 2n ** 63n }`;
      return `(() => {
        const handle = new native.CgroupHandle(${cgroup});
        const { id } = handle;
        handle.close();
        const order = new native.StandingOrder('/dev/null', undefined, wake);
        try { order.place(${plan}, 0n); } catch (error) { order.close(); throw error; }
        return order;
      })()`;
    }),
    NotifySocket: [`new native.NotifySocket('@evictd-test-${randomBytes(4).toString('hex')}')`],
    FileLock: [`new native.FileLock(${lock})`],
  };
}

/** The classes that the addon exports: what is not in `everything` was forgotten. */
export const CLASSES = Object.entries(native)
  .filter(([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name))
  .map(([name]) => name)
  .sort();
