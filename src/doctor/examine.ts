import { checkAddon } from './addon.js';
import { checkCapabilities } from './capabilities.js';
import { checkCgroupNamespace } from './cgroup-namespace.js';
import { checkCgroupVersion } from './cgroup-version.js';
import type { Check } from './check.js';
import { checkClock } from './clock.js';
import { checkControllers } from './controllers.js';
import { checkDaemons } from './daemons.js';
import { checkDescriptors } from './descriptors.js';
import { checkEvictable } from './evictable.js';
import type { DoctorFacts } from './facts.js';
import { checkFilesystems } from './filesystems.js';
import { checkInstance } from './instance.js';
import { checkKernelLog } from './kernel-log.js';
import { checkKernelVersion } from './kernel-version.js';
import { checkLint } from './lint.js';
import { checkMemoryMin } from './memory-min.js';
import { checkNode } from './node.js';
import { checkNodeVersion } from './node-version.js';
import { checkNotifiers } from './notifiers.js';
import { checkOom } from './oom.js';
import { checkOomScoreAdj } from './oom-score-adj.js';
import { checkOvercommit } from './overcommit.js';
import { checkPressure } from './pressure.js';
import { checkPressureWindow } from './pressure-window.js';
import { checkServiceUnit } from './service-unit.js';
import { checkReclaim } from './reclaim.js';
import { checkShutdownDelay } from './shutdown-delay.js';
import { checkSources } from './sources.js';
import { checkSwap } from './swap.js';
import { checkWatchdog } from './watchdog.js';
import { checkWatermarks } from './watermarks.js';

/** Every check, in the order in which they are shown: what all else stands on first. */
export function examine(facts: DoctorFacts): Check[] {
  const { kernel, pressure, oom, memory, kernelLog, clock, cgroup, runtime, subject, instance, service, node, workloads } = facts;
  return [
    checkKernelVersion(kernel),
    checkPressure(pressure),
    ...checkPressureWindow(pressure),
    checkKernelLog(kernelLog, subject),
    checkClock(clock),
    checkOom(oom),
    checkOvercommit(memory, node),
    checkSwap(memory),
    ...checkWatermarks(memory, node),
    checkCgroupVersion(cgroup),
    ...checkCgroupNamespace(cgroup),
    ...checkControllers(cgroup),
    checkNodeVersion(runtime),
    checkAddon(runtime),
    checkCapabilities(subject),
    checkDescriptors(subject, workloads),
    checkServiceUnit(service),
    ...checkInstance(instance, service, facts.version, facts.reload),
    ...checkWatchdog(service),
    ...checkMemoryMin(subject, cgroup),
    ...checkOomScoreAdj(subject),
    checkNode(node),
    ...checkNotifiers(node),
    ...checkFilesystems(facts.filesystems),
    ...checkReclaim(facts.reclaim),
    checkShutdownDelay(facts.shutdown),
    checkLint(workloads),
    ...checkSources(workloads),
    checkEvictable(workloads),
    ...checkDaemons(facts.daemons, { memory, node, workloads }),
  ];
}
