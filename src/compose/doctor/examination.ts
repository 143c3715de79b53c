import manifest from '../../../package.json' with { type: 'json' };
import type { LoadedConfig } from '../../config/config.js';
import { normalCgroupPath } from '../../core/cgroup.js';
import type { Check } from '../../doctor/check.js';
import { examine } from '../../doctor/examine.js';
import type { ListedWorkload } from '../../doctor/facts/workloads.js';
import type { InstanceFacts } from '../../doctor/facts/process.js';
import { selectHost, type DoctorReaders } from '../../host/select.js';
import { reloadAnswerPath } from '../../monitor/reload-answer.js';
import type { FilesystemsRead } from '../machine-facts.js';
import { loadAddon } from './addon.js';
import { examineDaemons } from './daemons.js';
import { Patience } from './deadline.js';
import { examineDirectories } from './directories.js';
import { examineNode } from './node.js';
import { examineReclaim } from './reclaim.js';
import { reloadOf } from './reload.js';
import { askRuntimes } from './runtimes.js';
import { examineShutdown } from './shutdown.js';
import { unitsProblem } from './units.js';
import * as windows from './windows.js';
import { workloadFacts } from './workloads.js';

/** An idle machine's systemd answers within 50 ms. */
const PATIENCE_MS = 1_500;

export interface Examination {
  readonly checks: readonly Check[];
  /** Ends the process at once. To be called where something hangs: it would never end by itself. undefined: nothing does. */
  readonly exitNow: ((code: number) => never) | undefined;
}

/** Reads what `run` would read, and more, and judges it. Nothing is changed: what is armed is closed again. */
export function examineMachine(loaded: LoadedConfig, filesystemsRead: FilesystemsRead): Promise<Examination> {
  const { doctor } = selectHost();
  return doctor ? examineLinux(loaded, filesystemsRead, doctor) : windows.examineWindows(loaded, filesystemsRead);
}

async function examineLinux(loaded: LoadedConfig, filesystemsRead: FilesystemsRead, doctor: DoctorReaders): Promise<Examination> {
  const { config } = loaded;
  const { instanceName } = selectHost();
  const patience = new Patience();
  const { native, facts: runtime } = await loadAddon();
  const cgroup = config.node.cgroup === undefined ? undefined : normalCgroupPath(config.node.cgroup);
  const instanceId = instanceName({ cgroup });
  // Not beside what follows: gRPC is loaded for it, and the others would be taken for late.
  const asked = await askRuntimes(config, native);
  const hasUnits = config.workloads.some((source) => 'systemd' in source);
  const [service, filesystems, reclaim, daemons, shutdown, unreachable] = await Promise.all([
    patience.within(PATIENCE_MS, (signal) => doctor.readService(signal)),
    examineDirectories(config, asked.filesystems, instanceId, native, doctor, patience),
    examineReclaim(config.reclaim, native, patience),
    examineDaemons(doctor, patience),
    examineShutdown(config.shutdown, patience),
    hasUnits ? unitsProblem() : undefined,
  ]);
  const runtimeDirectory = filesystems.directories.find(({ role }) => role === 'runtime');
  const readInstance = (): InstanceFacts => {
    const guarding = doctor.readInstance(config.runtimeDirectory, instanceId);
    if (guarding.kind !== 'none') return guarding;
    const dryRun = doctor.readInstance(config.runtimeDirectory, instanceName({ cgroup }, true));
    return dryRun.kind === 'running' ? { kind: 'none', dryRun: dryRun.pid } : guarding;
  };
  const instance = runtimeDirectory?.answer
    ? readInstance()
    : ({ kind: 'unseen', unseen: `${config.runtimeDirectory} ${native ? 'does not answer' : 'is not asked without the addon'}` } as const);
  const guarding = instance.kind === 'running' ? instance.pid : undefined;
  // Not beside the others: it blocks, and they would be taken for late.
  const {
    facts: node,
    sources,
    machine,
  } = await examineNode(loaded, native, asked, filesystemsRead).finally(() => {
    asked.close();
  });
  const workloads = workloadFacts(loaded, sources, machine, unreachable);
  const checks = examine({
    version: manifest.version,
    kernel: doctor.readKernel(native),
    pressure: doctor.readPressure(native),
    oom: doctor.readOom(),
    memory: doctor.readMemory(),
    kernelLog: doctor.readKernelLog(),
    clock: doctor.readClock(native),
    cgroup: doctor.readCgroup(parentsOf(workloads.listed)),
    runtime,
    subject: doctor.readSubject(guarding),
    instance,
    reload: reloadOf(instance, reloadAnswerPath(config.runtimeDirectory, instanceId)),
    service: service ?? { kind: 'unseen', unseen: `systemctl has not answered within ${String(PATIENCE_MS)} ms` },
    node,
    filesystems,
    workloads,
    reclaim,
    shutdown,
    daemons,
  });
  return { checks, exitNow: patience.exhausted && native ? (code) => native.exitNow(code) : undefined };
}

/** The cgroups that the workloads lie in, each once. */
function parentsOf(listed: readonly ListedWorkload[]): string[] {
  return [...new Set(listed.map(({ path }) => path.slice(0, path.lastIndexOf('/')) || '/'))].sort();
}
