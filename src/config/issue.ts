import type { core } from 'zod/mini';
import { describe, type SettingsDocument } from './document.js';
import { keyText, suggestion, type KeyPath } from './key.js';
import type { Report } from './report.js';
import { keysAt } from './schema.js';
import { WHEN_EXAMPLE } from './listed-thresholds.js';

/** Reports one of zod's issues, at its position in the source. */
export function reportIssue(issue: core.$ZodIssue, document: SettingsDocument, report: Report): void {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  const name = keyText(path);
  const label = name === '' ? '' : `${name}: `;
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        const message = `unknown key ${keyText([...path, key])}`;
        report.issue('EVICTD_CONFIG_UNKNOWN_KEY', message, document.keyAt([...path, key]), suggestion(key, keysAt(path)));
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
        const hint = expected === 'a list' ? listHint(name, issue.input) : mapHint(name, issue.input);
        report.issue('EVICTD_CONFIG_TYPE', `${label}expected ${expected}, got ${describe(issue.input)}`, document.at(path), hint);
      }
      return;
    default:
      report.issue('EVICTD_CONFIG_VALUE', `${label}${issue.message}`, document.at(path));
  }
}

function listHint(name: string, input: unknown): string {
  const isNames = /\.systemd\.(slices|units)$/.test(name);
  return isNames && typeof input === 'string' ? `write [${input}]` : 'begin each entry with "- "';
}

function mapHint(name: string, input: unknown): string {
  if (/^workloads\[\d+\]\.systemd$/.test(name)) return `write { slices: [${typeof input === 'string' ? input : 'batch.slice'}] }`;
  if (/^workloads\[\d+\]\.cri$/.test(name)) return `write { endpoint: ${typeof input === 'string' ? input : CRI_EXAMPLE} }`;
  if (/^workloads\[\d+\]\.process$/.test(name)) return `write { path: ${typeof input === 'string' ? input : PROGRAMS} }`;
  if (/^rules\[\d+\]\.match\.labels$/.test(name)) return 'write { app: web }';
  if (name.startsWith('workloads[')) return sourceHint(input);
  if (name.startsWith('thresholds[')) return "write { when: 'memory.available<5%', kind: hard }, or kind: soft and for: 10s";
  return 'write KEY: VALUE pairs below it';
}

const PROGRAMS = 'C:\\Apps\\**';
const CRI_EXAMPLE = 'unix:///run/containerd/containerd.sock';

function sourceHint(input: unknown): string {
  const text = typeof input === 'string' ? input : '/workload.slice';
  if (/^unix:|\.sock$/.test(text)) return `write { cri: { endpoint: ${text} } }`;
  if (text.startsWith('/')) return `write { cgroup: ${text} }`;
  return `write { systemd: { ${text.endsWith('.slice') ? 'slices' : 'units'}: [${text}] } }`;
}

function missingHint(path: KeyPath): string {
  const key = path.at(-1);
  if (key === 'match') return 'match: { name: PATTERN }, or match: {} for everything';
  if (key === 'when') return `when: ${WHEN_EXAMPLE}`;
  if (key === 'kind') return 'kind: hard, or kind: soft and for: 10s';
  if (key === 'capacity') return 'capacity: 8Gi';
  if (key === 'systemd') return 'systemd: { slices: [batch.slice] }, or { units: [web.service] }';
  if (key === 'path' && path[0] === 'workloads') return `path: ${PROGRAMS}`;
  if (key === 'endpoint') return `endpoint: ${CRI_EXAMPLE}`;
  if (key === 'cgroup')
    return path[0] === 'workloads' ? 'cgroup: /workload.slice, or systemd: { slices: [batch.slice] }' : 'cgroup: /workload.slice';
  return 'give it a value';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
