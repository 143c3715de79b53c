import { loginSessionUser } from '../../../core/systemd/unit.js';
import { broken, degraded, ok, type Detail } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { judged } from '../findings.js';
import type { ListedWorkload } from '../machine-facts.js';

/** The workloads of each source; a workload of two sources counts in both. */
export const sourcesCheck = defineCheck('workloads[N]', ['workloads'], ({ workloads }, pattern) =>
  workloads.sources.map(({ text, workloads: count, unreadable, problems }, index) => {
    const id = pattern.replace('N', String(index));
    const details = {
      source: text,
      key: id,
      workloads: count,
      unreadable,
      problems: problems.map(({ code, message }) => ({ code, message })),
    };
    return judged(id, workloads, `${text}: ${String(count)} ${count === 1 ? 'workload' : 'workloads'}`, details);
  }),
);

/** Whether evictd could evict a workload at all. */
export const evictableCheck = defineCheck('workloads.evictable', ['workloads'], ({ workloads }, id) => {
  const { listed } = workloads;
  const free = listed.filter(({ unevictable }) => unevictable === undefined).length;
  const details = { workloads: listed.length, evictable: free, protected: byReason(listed) };
  const kept = Object.entries(byReason(listed)).map(([reason, count]) => `${String(count)} × ${reason}`);
  const rest = kept.length === 0 ? '' : `; not evictable: ${kept.join(', ')}`;
  const check = judged(id, workloads, `${String(free)} of ${String(listed.length)} workloads can be evicted${rest}`, details);
  if (check.status !== 'ok' || free > 0) return check;
  return broken(id, 'evictd evicts nothing: no workload can be read', 'see node.memory', details); // the node is missing
});

function byReason(listed: readonly ListedWorkload[]): Readonly<Record<string, Detail & number>> {
  const counts: Record<string, number> = {};
  for (const { unevictable } of listed) if (unevictable !== undefined) counts[unevictable] = (counts[unevictable] ?? 0) + 1;
  return counts;
}

/** The operators whose login sessions are protected, and the sessions that the sources name. */
export const operatorsCheck = defineCheck('workloads.operators', ['operators', 'workloads'], ({ operators: found, workloads }, id) => {
  const { operators, unread } = found;
  const uids = new Set(operators.map(({ uid }) => uid));
  const sessions = workloads.listed.filter(({ path, unevictable }) => {
    const user = loginSessionUser(path);
    return user !== undefined && uids.has(user) && unevictable !== undefined;
  });
  const names = someOf(operators.map(({ name, because }) => (because.length === 0 ? name : `${name} (${because.join('; ')})`)));
  const kept = someOf(sessions.map(({ path }) => path));
  const summary = `operators: ${names}; ${sessions.length === 0 ? 'no workload is a login session of theirs' : `protected: ${kept}`}`;
  const details = {
    operators: operators.map(({ uid, name, because }) => ({ uid, name, because })),
    protected: sessions.map(({ name, path, unevictable = '' }) => ({ name, path, because: unevictable })),
    unread,
  };
  if (unread.length === 0) return ok(id, summary, details);
  return degraded(id, `cannot read ${unread.join(', ')}: not all operators are known; ${summary}`, 'run evictd doctor as root', details);
});

/** The rest is in the details. */
const MAX_NAMED = 8;

function someOf(texts: readonly string[]): string {
  const rest = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(rest > 0 ? [`${String(rest)} more`] : [])].join(', ');
}

/** The findings of `config check` that no other check shows. */
export const lintCheck = defineCheck('config.lint', ['workloads'], ({ workloads }, id) =>
  judged(id, workloads, 'evictd config check has no further findings'),
);
