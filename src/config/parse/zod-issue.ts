import type { core } from 'zod/mini';
import type { SourcePosition } from '../../errors.js';
import { describe, type SettingsDocument } from '../value/document.js';
import { keyText, misplacedSignalHint, nearest, suggestion, type KeyPath, type Report } from '../value/report.js';
import { mapInPolicy, missingInPolicy } from '../policies/policy-hints.js';
import { keysAt } from './schema.js';
import { WHEN_EXAMPLE } from '../resolve/listed-thresholds.js';
import type { SourceKind } from '../../workloads/kinds/source-kind.js';
import { SOURCES } from '../../workloads/kinds/sources.js';

const SOURCE_KINDS: readonly SourceKind[] = SOURCES;

/**
 * Reports one of zod's issues, at its position in the source.
 *
 * @param keysOf  the keys that are accepted in the map at a path
 */
export function reportIssue(
  issue: core.$ZodIssue,
  document: SettingsDocument,
  report: Report,
  keysOf: (path: KeyPath) => readonly string[] = keysAt,
): void {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  const name = keyText(path);
  const label = name === '' ? '' : `${name}: `;
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        const message = `unknown key ${keyText([...path, key])}`;
        report.issue(
          'EVICTD_CONFIG_UNKNOWN_KEY',
          message,
          document.keyAt([...path, key]),
          misplacedSignalHint(key) ?? suggestion(key, keysOf(path)),
        );
      }
      return;
    case 'invalid_value': {
      const isMissing = issue.input === undefined;
      const seen = isMissing ? 'is missing:' : `${describe(issue.input)} is not`;
      const accepted = issue.values.map(String);
      const near = typeof issue.input === 'string' ? nearest(issue.input, accepted) : undefined;
      const hint = near === undefined ? (isMissing ? missingHint(path) : undefined) : `did you mean ${near}?`;
      report.issue('EVICTD_CONFIG_VALUE', `${label}${seen} one of ${accepted.join(', ')}`, document.at(path), hint);
      return;
    }
    case 'custom':
      report.issue(
        text(issue.params?.code),
        `${label}${issue.message}`,
        positionOf(path, issue.params?.offset, document),
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

/** @param offset  a number: of a character in a text */
function positionOf(path: KeyPath, offset: unknown, document: SettingsDocument): SourcePosition {
  return typeof offset === 'number' && document.within !== undefined ? document.within(path, offset) : document.at(path);
}

function listHint(name: string, input: unknown): string {
  const isNames = /^workloads\[\d+\]\./.test(name);
  return isNames && typeof input === 'string' ? `write [${input}]` : 'begin each entry with "- "';
}

function mapHint(name: string, input: unknown): string {
  const ofPolicy = mapInPolicy(name);
  if (ofPolicy !== undefined) return ofPolicy;
  const written = typeof input === 'string' ? input : undefined;
  const [, key] = /^workloads\[\d+\]\.(\w+)$/.exec(name) ?? [];
  const map = SOURCE_KINDS.find(({ kind }) => kind === key)?.mapHint?.(written);
  if (map !== undefined) return `write ${map}`;
  if (/(?:^|\.)hooks\.\w+$/.test(name)) return 'write a list: [/usr/local/bin/save-heap, --all]';
  if (/^rules\[\d+\]\.match\.labels$/.test(name)) return 'write { app: web }';
  if (name.startsWith('workloads[')) return sourceHint(written);
  if (name.startsWith('thresholds[')) return "write { when: 'memory.available<5%', kind: hard }, or kind: soft and for: 10s";
  return 'write KEY: VALUE pairs below it';
}

function sourceHint(written = '/workload.slice'): string {
  const [meant] = SOURCE_KINDS.flatMap((kind) => kind.entryHint?.(written) ?? []);
  return `write ${meant ?? '{ cgroup: /workload.slice }'}`;
}

function missingHint(path: KeyPath): string {
  const ofPolicy = missingInPolicy(path);
  if (ofPolicy !== undefined) return ofPolicy;
  const key = path.at(-1);
  if (key === 'match') return 'match: { name: PATTERN }, or match: {} for everything';
  if (key === 'when') return `when: ${WHEN_EXAMPLE}`;
  if (key === 'kind') return 'kind: hard, or kind: soft and for: 10s';
  if (key === 'capacity') return 'capacity: 8Gi';
  if (key === 'command') return 'command: [/usr/local/bin/save-heap, --all]';
  const ofSource = path[0] === 'workloads' ? SOURCE_KINDS.flatMap(({ missing }) => missing?.[String(key)] ?? []) : [];
  if (ofSource[0] !== undefined) return ofSource[0];
  if (key === 'cgroup')
    return path[0] === 'workloads' ? 'cgroup: /workload.slice, or systemd: { slices: [batch.slice] }' : 'cgroup: /workload.slice';
  return 'give it a value';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
