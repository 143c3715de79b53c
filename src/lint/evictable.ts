import { isResourceSignal, MACHINE_RESOURCES, SIGNAL_FACTS } from '../core/signal.js';
import { sourceRoots, sourceText } from '../core/workload-source.js';
import { isWindowsPath } from '../core/windows-path.js';
import type { Finding } from './finding.js';
import { matchesEveryName } from './glob.js';
import { isOff } from './limit.js';
import type { MachineFacts, PresentWorkload } from './machine.js';
import type { LintSubject } from './subject.js';

/** Whether there is anything to evict for, and anybody to evict: each reason alone is enough, so that only the first is told. */
export function lintEvictable(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const found = withoutThreshold(subject) ?? withoutSource(subject) ?? ruledOut(subject) ?? nobodyThere(subject, machine);
  const missing = (machine?.workloads?.problems ?? []).map(({ root, ...problem }): Finding => ({
    level: 'warn',
    key: entryOf(root, subject),
    ...problem,
  }));
  return [...missing, ...(found === undefined ? [] : [found])];
}

/** The entry whose workloads are below that cgroup. */
function entryOf(root: string | undefined, { workloads }: LintSubject): string {
  const index = root === undefined ? -1 : workloads.findIndex((source) => sourceRoots([source]).includes(root));
  return index === -1 ? 'workloads' : `workloads[${String(index)}]`;
}

function withoutThreshold({ thresholds, workloads, written }: LintSubject): Finding | undefined {
  if (thresholds.length === 0) {
    const [off] = [...written].flatMap(([key, value]) => (/^eviction(Hard|Soft)\./.test(key) && isOff(value) ? [value] : []));
    return {
      level: 'warn',
      code: 'EVICTD_LINT_NO_THRESHOLD',
      message: `${off === undefined ? 'there is no threshold' : 'every threshold is switched off'}: nothing is watched, and nothing is ever evicted`,
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
    'there is no threshold of memory, a disk or process ids, and evicting a workload is not known to give anything else back',
    'evictionHard',
    'set evictionHard.memory.available',
  );
}

function withoutSource({ workloads, filesystems }: LintSubject): Finding | undefined {
  if (workloads.length > 0) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_WORKLOADS_NONE',
    message: 'no workload source is configured: evictd watches and exports, and evicts nothing',
    hint: isWindowsPath(filesystems.nodefs)
      ? "name one: workloads: [{process: {path: 'C:\\Apps\\**'}}], [{service: worker}], or [{job: batch}]"
      : 'name one: workloads: [{cgroup: /workload.slice}], or [{systemd: {slices: [batch.slice]}}]',
    key: 'workloads',
  };
}

/** Everything is critical, whatever comes. */
function ruledOut({ rules }: LintSubject): Finding | undefined {
  const index = rules.findIndex(
    ({ critical, match: { name, path, labels } }) =>
      critical && labels === undefined && matchesEveryName(name) && (path === undefined || /^(\/?\*{2,})$/.test(path)),
  );
  if (index === -1) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_ALL_CRITICAL',
    message: `rules[${String(index)}] makes every workload critical: nothing is ever evicted`,
    hint: 'match only what must never be evicted; a later rule cannot take critical back',
    key: `rules[${String(index)}]`,
  };
}

function nobodyThere({ workloads, rules }: LintSubject, machine: MachineFacts | undefined): Finding | undefined {
  if (machine?.workloads === undefined) return undefined;
  const { present, problems } = machine.workloads;
  const sources = workloads.map(sourceText).join(', ');
  if (present.length === 0) {
    return problems.length >= sourceRoots(workloads).length // all of them missing: that says it
      ? undefined
      : nothingEvictable(
          `there is no workload in ${sources} now`,
          'workloads',
          'every child of a cgroup, every unit below a slice and every pod of a container runtime is a workload: see evictd rank',
        );
  }
  if (present.some(({ hindrance }) => hindrance === undefined)) return undefined;
  const inhabited = present.filter(({ hindrance }) => hindrance?.kind !== 'vacant');
  if (inhabited.length > 0 && inhabited.every(({ hindrance }) => hindrance?.kind === 'critical')) {
    const by = rules.flatMap(({ critical }, index) => (critical && inhabited.some(matchedBy(index)) ? [index] : []));
    const said = by.map((index) => `rules[${String(index)}] ${namesOf(inhabited.filter(matchedBy(index)))}`).join(', ');
    return {
      level: 'warn',
      code: 'EVICTD_LINT_ALL_CRITICAL',
      message: `every workload that is there now (${String(inhabited.length)}) is critical: ${said}; nothing is evicted`,
      hint: 'match only what must never be evicted',
      key: `rules[${String(by[0] ?? 0)}]`,
    };
  }
  return nothingEvictable(
    `of the workloads in ${sources} now none may be evicted: ${countsOf(present)}`,
    'workloads',
    'see evictd rank for the reasons, one by one',
  );
}

function nothingEvictable(reason: string, key: string, hint: string): Finding {
  return { level: 'warn', code: 'EVICTD_LINT_NOTHING_EVICTABLE', message: `nothing is evicted: ${reason}`, hint, key };
}

function matchedBy(index: number): (workload: PresentWorkload) => boolean {
  return ({ matched }) => matched.includes(index);
}

/** '2 × critical, 1 × no process lives in it'. */
function countsOf(present: readonly PresentWorkload[]): string {
  const counts = new Map<string, number>();
  for (const { hindrance } of present) {
    if (hindrance !== undefined) counts.set(hindrance.text, (counts.get(hindrance.text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${String(count)} × ${text}`).join(', ');
}

/** 'a, b, c and 4 more'. */
export function namesOf(workloads: readonly PresentWorkload[]): string {
  const names = workloads.map(({ name }) => name).sort();
  const rest = names.length - 3;
  return names.slice(0, 3).join(', ') + (rest > 0 ? ` and ${String(rest)} more` : '');
}
