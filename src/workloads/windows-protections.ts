import { serviceProtection, systemProtection } from '../core/windows-protection.js';
import type { Protection } from '../core/workload.js';
import type { compileRules, RuleEffect } from './rules.js';
import type { WindowsMember } from './windows-members.js';

/**
 * Why workloads are never evicted, by path; those without an entry may be. Rules hold for every process, too: one that is critical protects whatever it lives in.
 *
 * @param own  evictd and the processes that it descends from
 */
export function windowsProtections(
  members: readonly (WindowsMember & { readonly effect: RuleEffect })[],
  own: ReadonlySet<number>,
  effectOf: ReturnType<typeof compileRules>,
): ReadonlyMap<string, Protection> {
  const protections = new Map<string, Protection>();
  for (const { path, effect, processes, service } of members) {
    const bySystem = systemProtection(processes, own) ?? (service && serviceProtection(service));
    const critical = processes.find(({ name, path: program }) => effectOf({ name, path: program }).critical);
    const inside: Protection | undefined = critical && { kind: 'contains', name: critical.name };
    const also = bySystem ?? inside;
    const protection: Protection | undefined = effect.critical ? { kind: 'critical', ...(bySystem && { also: bySystem }) } : also;
    if (protection) protections.set(path, protection);
  }
  protectShared(members, protections);
  return protections;
}

/** A process may live in a job and in a tree: who ends one of them ends that of the other. */
function protectShared(members: readonly WindowsMember[], protections: Map<string, Protection>): void {
  const protectedBy = new Map<number, WindowsMember>();
  for (const member of members) {
    if (protections.has(member.path)) for (const { pid } of member.processes) protectedBy.set(pid, member);
  }
  for (const { path, processes } of members) {
    if (protections.has(path)) continue;
    const shared = processes.map(({ pid }) => protectedBy.get(pid)).find((other) => other !== undefined);
    if (shared) protections.set(path, { kind: 'contains', name: shared.name });
  }
}
