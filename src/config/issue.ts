import type { core } from 'zod/mini';
import type { SettingsDocument } from './document.js';
import { keyText, suggestion, type KeyPath } from './key.js';
import type { Report } from './report.js';
import { KEYS } from './schema.js';
import { describe } from './values.js';
import { WHEN_EXAMPLE } from './when.js';

/** One of zod's issues, at the place in the source, in words that do not need zod to be known. */
export function reportIssue(issue: core.$ZodIssue, document: SettingsDocument, report: Report): void {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  const name = keyText(path);
  const label = name === '' ? '' : `${name}: `;
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        const known = KEYS[name.replace(/\[\d+\]/g, '[]')] ?? [];
        const message = `unknown key ${keyText([...path, key])}`;
        report.issue('EVICTD_CONFIG_UNKNOWN_KEY', message, document.keyAt([...path, key]), suggestion(key, known));
      }
      return;
    case 'invalid_value': {
      const seen = describe(issue.input);
      const accepted = issue.values.map(String);
      const hint = typeof issue.input === 'string' ? suggestion(issue.input, accepted) : `accepted: ${accepted.join(', ')}`;
      report.issue('EVICTD_CONFIG_VALUE', `${label}${seen} is not one of ${accepted.join(', ')}`, document.at(path), hint);
      return;
    }
    case 'custom':
      report.issue(
        text(issue.params?.code),
        `${label}${issue.message}`,
        document.at(path),
        issue.params?.code === 'EVICTD_CONFIG_MISSING' ? missingHint(path) : text(issue.params?.hint),
      );
      return;
    case 'invalid_type':
      if (issue.input === undefined) {
        report.issue('EVICTD_CONFIG_MISSING', `${name}: is missing`, document.at(path), missingHint(path));
      } else {
        const expected = issue.expected === 'array' ? 'a list' : 'a map';
        const hint = expected === 'a list' ? 'begin each entry with "- "' : mapHint(name, issue.input);
        report.issue('EVICTD_CONFIG_TYPE', `${label}expected ${expected}, got ${describe(issue.input)}`, document.at(path), hint);
      }
      return;
    default:
      report.issue('EVICTD_CONFIG_VALUE', `${label}${issue.message}`, document.at(path));
  }
}

/** What to write where a map is to stand. */
function mapHint(name: string, input: unknown): string {
  if (name.startsWith('workloads[')) return `write { cgroup: ${typeof input === 'string' ? input : '/workload.slice'} }`;
  if (name.startsWith('thresholds[')) return "write { when: 'memory.available<5%', kind: hard }, or kind: soft and for: 10s";
  return 'write KEY: VALUE below it';
}

/** What to write where a key that must be there is not. */
function missingHint(path: KeyPath): string {
  const key = path.at(-1);
  if (key === 'match') return 'match: { name: PATTERN }, or match: {} for everything';
  if (key === 'when') return `when: ${WHEN_EXAMPLE}`;
  if (key === 'kind') return 'kind: hard, or kind: soft and for: 10s';
  if (key === 'capacity') return 'capacity: 8Gi';
  return key === 'cgroup' ? 'cgroup: /workload.slice' : 'give it a value';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
