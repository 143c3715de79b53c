import { firstOf } from '../../../core/name/name-list.js';
import { isResourceSignal, MACHINE_RESOURCES, SIGNAL_FACTS } from '../../../core/signal/signal.js';
import { sourceText } from '../../../workloads/kinds/source-spec.js';
import { isWindowsPath } from '../../../core/windows/windows-path.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { actsOnWorkloads } from '../policies/policy-steps.js';
import { matchesEvery } from './glob-overlap.js';
import { isOff } from '../limit.js';
import type { MachineFacts, PresentSource, PresentWorkload } from '../machine.js';

/** Whether evictd could ever evict a workload. Reports the first reason why not: each is enough. */
export function lintEvictable(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const found = withoutThreshold(subject) ?? withoutSource(subject) ?? ruledOut(subject) ?? noneNow(subject, machine);
  const { sources = [], present = [] } = machine?.workloads ?? {};
  return [...sources.flatMap((source, index) => ofSource(source, index, present.length > 0)), ...(found === undefined ? [] : [found])];
}

/** Judges one entry of `workloads`. @param hasOthers  whether other entries have workloads; if none has, another finding says so */
function ofSource({ text, workloads, unreadable, problems }: PresentSource, index: number, hasOthers: boolean): Finding[] {
  const found = { level: 'warn', key: `workloads[${String(index)}]` } as const;
  if (problems.length > 0) return problems.map((problem) => ({ ...found, ...problem }));
  if (unreadable > 0) {
    const message = `${text}: ${String(workloads)} workloads, and ${String(unreadable)} that evictd cannot read and never evicts`;
    return [
      { ...found, code: 'EVICTD_LINT_SOURCE_UNREADABLE', message, hint: 'run evictd as root; evictd rank lists them with the reasons' },
    ];
  }
  if (workloads > 0 || !hasOthers) return [];
  const hint = 'check the name; evictd finds workloads that start later by itself';
  return [{ ...found, code: 'EVICTD_LINT_SOURCE_EMPTY', message: `${text}: no workload exists now`, hint }];
}

function withoutThreshold({ thresholds, workloads, written }: LintSubject): Finding | undefined {
  if (thresholds.length === 0) {
    const [off] = [...written].flatMap(([key, value]) => (/^eviction(Hard|Soft)\./.test(key) && isOff(value) ? [value] : []));
    return {
      level: 'error',
      code: 'EVICTD_LINT_NO_THRESHOLD',
      message: `${off === undefined ? 'there is no threshold' : 'every threshold is disabled'}: evictd watches nothing and evicts nothing`,
      hint: `set evictionHard.memory.available${off === undefined ? '' : `, or remove the ${off}`}`,
      key: 'evictionHard',
    };
  }
  if (
    workloads.length === 0 ||
    thresholds.some(({ signal }) => isResourceSignal(signal) && MACHINE_RESOURCES.has(SIGNAL_FACTS[signal].resource))
  )
    return undefined;
  return nothingEvictable(
    'no threshold is of memory, a disk or process ids, the resources that an eviction frees',
    'evictionHard',
    'set evictionHard.memory.available',
  );
}

function withoutSource({ workloads, filesystems, policies }: LintSubject): Finding | undefined {
  if (workloads.length > 0) return undefined;
  const steps = policies.flatMap(({ then }) => then);
  if (steps.length > 0 && !steps.some(actsOnWorkloads)) {
    return {
      level: 'info',
      code: 'EVICTD_WORKLOADS_NONE',
      message: 'no workload source is configured: the policies only notify and run programs, and evictd evicts nothing',
      key: 'workloads',
    };
  }
  return {
    level: 'error',
    code: 'EVICTD_WORKLOADS_NONE',
    message: 'no workload source is configured: evictd exports metrics, but evicts nothing',
    hint: isWindowsPath(filesystems.nodefs)
      ? "name one: workloads: [{process: {path: 'C:\\Apps\\**'}}], [{service: worker}], or [{job: batch}]"
      : 'name one: workloads: [{cgroup: /workload.slice}], or [{systemd: {slices: [batch.slice]}}]',
    key: 'workloads',
  };
}

function ruledOut({ rules }: LintSubject): Finding | undefined {
  const index = rules.findIndex(({ critical, match }) => critical && matchesEvery(match));
  if (index === -1) return undefined;
  return {
    level: 'error',
    code: 'EVICTD_LINT_ALL_CRITICAL',
    message: `rules[${String(index)}] makes every workload critical: evictd evicts nothing`,
    hint: 'match only workloads that must never be evicted; a later rule cannot undo critical',
    key: `rules[${String(index)}]`,
  };
}

function noneNow({ workloads, rules }: LintSubject, machine: MachineFacts | undefined): Finding | undefined {
  if (machine?.workloads === undefined) return undefined;
  const { present } = machine.workloads;
  const sources = workloads.map(sourceText).join(', ');
  if (present.length === 0) {
    return nothingEvictable(
      `no workload exists in ${sources} now`,
      'workloads',
      'every child of a cgroup, every unit below a slice and every pod of a container runtime is a workload: see evictd rank',
    );
  }
  if (present.some(({ unevictable }) => unevictable === undefined)) return undefined;
  const occupied = present.filter(({ unevictable }) => unevictable?.kind !== 'vacant');
  if (occupied.length > 0 && occupied.every(({ unevictable }) => unevictable?.kind === 'critical')) {
    const by = rules.flatMap(({ critical }, index) => (critical && occupied.some(matchedBy(index)) ? [index] : []));
    const perRule = by.map((index) => `rules[${String(index)}] ${namesOf(occupied.filter(matchedBy(index)))}`).join(', ');
    return {
      level: 'error',
      code: 'EVICTD_LINT_ALL_CRITICAL',
      message: `every workload that exists now (${String(occupied.length)}) is critical: ${perRule}; evictd evicts nothing`,
      hint: 'match only workloads that must never be evicted',
      key: `rules[${String(by[0] ?? 0)}]`,
    };
  }
  return nothingEvictable(
    `no workload in ${sources} is evictable now: ${countsOf(present)}`,
    'workloads',
    'see evictd rank for the reason of each',
  );
}

function nothingEvictable(reason: string, key: string, hint: string): Finding {
  return { level: 'error', code: 'EVICTD_LINT_NOTHING_EVICTABLE', message: `evictd evicts nothing: ${reason}`, hint, key };
}

function matchedBy(index: number): (workload: PresentWorkload) => boolean {
  return ({ matched }) => matched.includes(index);
}

/** '2 × critical, 1 × no process lives in it'. */
function countsOf(present: readonly PresentWorkload[]): string {
  const counts = new Map<string, number>();
  for (const { unevictable } of present) {
    if (unevictable !== undefined) counts.set(unevictable.text, (counts.get(unevictable.text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${String(count)} × ${text}`).join(', ');
}

export function namesOf(workloads: readonly PresentWorkload[]): string {
  return firstOf(workloads.map(({ name }) => name).sort());
}

export const evictableRule: LintRule = {
  codes: [
    'EVICTD_SOURCE_MISSING',
    'EVICTD_CONTAINER_NAME',
    'EVICTD_LINT_SOURCE_UNREADABLE',
    'EVICTD_LINT_SOURCE_EMPTY',
    'EVICTD_LINT_NO_THRESHOLD',
    'EVICTD_WORKLOADS_NONE',
    'EVICTD_LINT_ALL_CRITICAL',
    'EVICTD_LINT_NOTHING_EVICTABLE',
  ],
  find: lintEvictable,
};
