import manifest from '../../../../package.json' with { type: 'json' };
import type { LoadedConfig } from '../../../config/config.js';
import { normalCgroupPath } from '../../../core/workload/cgroup.js';
import { lazyFacts, type LazyFacts } from '../check-kind.js';
import type { LinuxFacts, ListedWorkload } from '../machine-facts.js';
import type { InstanceFacts, RuntimeFacts } from '../../../host/facts.js';
import { selectHost, type DoctorReaders } from '../../../host/select.js';
import { runFilePath } from '../../../state/run-file.js';
import { answerPath } from '../../../state/request-answer.js';
import type { Binding } from '../../../native/binding.js';
import type { FilesystemsRead } from '../../../node/machine-facts.js';
import { examineDaemons } from './daemons-inspection.js';
import type { Timeouts } from '../../../node/timeouts.js';
import { examineDirectories } from './directories-inspection.js';
import { examineNode, type ExaminedNode } from './node-inspection.js';
import { examineReclaim } from './reclaim-inspection.js';
import { examineApiServer } from './api-server-inspection.js';
import { crashesOf, pausesOf, reloadOf, type ExaminedRuntimes } from './runtimes-inspection.js';
import { examineShutdown, unitsProblem } from './systemd-inspection.js';
import { workloadFacts } from './workloads-inspection.js';
import { selectsUnits } from '../../../workloads/kinds/source-spec.js';
import { findOperators } from '../../../workloads/systemd/operators.js';

/** An idle systemd answers within 50 ms. */
const TIMEOUT_MS = 1_500;

export interface LinuxSources {
  readonly loaded: LoadedConfig;
  readonly filesystemsRead: FilesystemsRead;
  readonly doctor: DoctorReaders;
  /** undefined: the addon does not load. */
  readonly native: Binding | undefined;
  readonly runtime: RuntimeFacts;
  readonly opened: ExaminedRuntimes;
  readonly timeouts: Timeouts;
}

export function linuxFacts({ loaded, filesystemsRead, doctor, native, runtime, opened, timeouts }: LinuxSources): LazyFacts<LinuxFacts> {
  const { config } = loaded;
  const { instanceName } = selectHost();
  const cgroup = config.node.cgroup === undefined ? undefined : normalCgroupPath(config.node.cgroup);
  const instanceId = instanceName({ cgroup });
  const waits: Promise<unknown>[] = [];
  /** Work that waits. It runs beside other waits, and before work that blocks, which would make it look late. */
  const wait = <T>(work: Promise<T>): Promise<T> => {
    waits.push(work);
    return work;
  };
  const pidOf = (instance: InstanceFacts): number | undefined => (instance.kind === 'running' ? instance.pid : undefined);
  let examined: Promise<ExaminedNode> | undefined;
  const examineNodeOnce = async (): Promise<ExaminedNode> => {
    await Promise.resolve(); // by now every check has requested its facts
    await Promise.all(waits);
    examined ??= examineNode(loaded, native, opened, filesystemsRead);
    return examined;
  };
  const facts: LazyFacts<LinuxFacts> = lazyFacts<LinuxFacts>({
    version: () => manifest.version,
    runtime: () => runtime,
    kernelFile: () => doctor.readKernelFile,
    kernel: () => doctor.readKernel(native),
    pressure: () => doctor.readPressure(native),
    memory: () => doctor.readMemory(),
    kernelLog: () => doctor.readKernelLog(),
    clock: () => doctor.readClock(native),
    service: async () =>
      (await wait(timeouts.within(TIMEOUT_MS, (signal) => doctor.readService(signal)))) ?? {
        kind: 'unseen',
        unseen: `systemctl did not answer within ${String(TIMEOUT_MS)} ms`,
      },
    filesystems: () => wait(examineDirectories(config, opened.filesystems, instanceId, native, doctor, timeouts)),
    reclaim: () => wait(examineReclaim(config.reclaim, native, timeouts)),
    daemons: () => wait(examineDaemons(doctor, timeouts)),
    apiServer: () => wait(examineApiServer(config.kubernetes, opened.apiServer)),
    shutdown: () => wait(examineShutdown(config.shutdown, timeouts)),
    instance: async () => {
      const runtimeDirectory = (await facts.filesystems()).directories.find(({ role }) => role === 'runtime');
      if (runtimeDirectory?.answer) return readInstance(doctor, config.runtimeDirectory, instanceId, instanceName({ cgroup }, true));
      return { kind: 'unseen', unseen: `${config.runtimeDirectory} ${native ? 'does not answer' : 'cannot be read without the addon'}` };
    },
    subject: async () => doctor.readSubject(pidOf(await facts.instance())),
    crashes: async () => crashesOf(await facts.instance(), runFilePath(config.runtimeDirectory, instanceId), config.safeMode.crashes),
    pauses: () => wait(facts.instance().then((instance) => pausesOf(instance, config))),
    operators: () => findOperators(),
    reload: async () => reloadOf(await facts.instance(), answerPath(config.runtimeDirectory, instanceId, 'reload')),
    node: async () => (await examineNodeOnce()).facts,
    workloads: async () => {
      const unreachable = selectsUnits(config.workloads) ? wait(unitsProblem()) : undefined;
      const { machine } = await examineNodeOnce();
      return workloadFacts(loaded, machine, await unreachable);
    },
    cgroup: async () => doctor.readCgroup(parentsOf((await facts.workloads()).listed)),
  });
  return facts;
}

function readInstance(doctor: DoctorReaders, runtimeDirectory: string, id: string, dryRunId: string): InstanceFacts {
  const guarding = doctor.readInstance(runtimeDirectory, id);
  if (guarding.kind !== 'none') return guarding;
  const dryRun = doctor.readInstance(runtimeDirectory, dryRunId);
  return dryRun.kind === 'running' ? { kind: 'none', dryRun: dryRun.pid } : guarding;
}

/** The parent cgroups of the workloads, each once. */
function parentsOf(listed: readonly ListedWorkload[]): string[] {
  return [...new Set(listed.map(({ path }) => path.slice(0, path.lastIndexOf('/')) || '/'))].sort();
}
