import { checkAddon } from './addon.js';
import type { Check } from './check.js';
import { checkEvictable } from './evictable.js';
import type { WindowsDoctorFacts } from './facts/windows.js';
import { checkRunning } from './instance.js';
import { checkLint } from './lint.js';
import { checkNode } from './node.js';
import { checkNodeVersion } from './node-version.js';
import { checkNotifiers } from './notifiers.js';
import { checkSources } from './sources.js';
import { checkGuarded, checkService } from './windows-service.js';
import { checkRights } from './windows-rights.js';
import { checkVolumes } from './windows-volumes.js';

/** Every check that makes sense on Windows, in the order in which they are shown. */
export function examineWindowsFacts(facts: WindowsDoctorFacts): Check[] {
  const { runtime, instance, service, node, workloads } = facts;
  return [
    checkNodeVersion(runtime),
    checkAddon(runtime),
    checkRights(facts.rights),
    checkService(service),
    ...(instance.kind === 'running' ? checkRunning(instance, facts.version, facts.reload) : [checkGuarded(instance)]),
    checkNode(node),
    ...checkNotifiers(node),
    ...checkVolumes(facts.volumes),
    checkLint(workloads),
    ...checkSources(workloads),
    checkEvictable(workloads),
  ];
}
