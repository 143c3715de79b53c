import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { configurationSchema } from '../../../src/config/json-schema.js';
import { openSources } from '../../../src/node/open-reading.js';
import { unrecordedSources } from '../../../src/features/replay/recorded-workloads.js';
import { recordedConfig } from '../../../src/recording/open.js';
import { lintRules } from '../../../src/config/lint/workloads/rules.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import type { SourceKind } from '../../../src/workloads/kinds/source-kind.js';
import { sourceText } from '../../../src/workloads/kinds/source-spec.js';
import { errorOf, load, scratch } from '../../config/scratch.js';
import { candidates, Mi, workload } from '../../core/support.js';
import { subject } from '../../config/lint/support.js';
import { memoryHierarchy } from '../../support/cgroup.js';

/** A kind as a file in src/workloads would export it, and its line in the list. Its workloads are named in a file. */
vi.mock(import('../../../src/workloads/kinds/sources.js'), async (original) => {
  const z = await import('zod/mini');
  const { SOURCES } = await original();
  const toySource: SourceKind<'toy', { readonly file: string }> = {
    kind: 'toy',
    os: 'linux',
    schema: z.strictObject({ file: z.string() }),
    descriptions: { '': 'Toys are workloads.', file: 'File that names them.' },

    example: 'a toy (toy: { file: … })',
    mapHint: (text = '/toys') => `{ file: ${text} }`,
    text: ({ file }) => `toy ${file}`,
    names: ({ file }) => [{ name: file, path: ['file'] }],
    found: { in: 'elsewhere', open: ({ file }) => openToys(file) },
  };
  return { SOURCES: [...SOURCES, toySource] as unknown as typeof SOURCES };
});

function openToys(file: string): WorkloadSource {
  const names = readFileSync(file, 'utf8').trim().split('\n');
  return {
    candidates: () => ({ ...candidates(...names.map((name): [ReturnType<typeof workload>, bigint] => [workload(name), Mi])), veto }),
    refresh: () => undefined,
    holding: () => undefined,
    problems: () => [],
    close: () => undefined,
  };
}
const veto = () => ({ kind: 'vacant' }) as const;

test('the schema has the descriptions of a new kind of workload source', () => {
  const toy = configurationSchema().properties?.workloads?.items?.properties?.toy;
  expect([toy?.description, toy?.properties?.file?.description]).toEqual(['Toys are workloads.', 'File that names them.']);
});

test('a new kind of workload source is one file and one line in SOURCES', () => {
  const directory = scratch();
  const toys = `${directory}/toys`;
  const yaml = `workloads:\n  - cgroup: /evictd-none\n  - toy: {file: ${toys}}\n  - toy: {file: ${toys}}\n`;
  const loaded = load({ 'config.yaml': yaml, toys: 'red\nblue\n' }, {}, directory);
  const { workloads } = loaded.config;
  expect(workloads.map(sourceText)).toEqual(['/evictd-none', `toy ${toys}`]);
  expect(loaded.notices.map(({ message }) => message)).toContain(`workloads: ${toys} is named twice`);

  const hierarchy = memoryHierarchy();
  const node = { identity: { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version }, hierarchy };
  const source = openSources(loaded, node as Parameters<typeof openSources>[1], false, {});
  const found = source.candidates();
  expect(found.usages.map(({ workload: { name } }) => name)).toEqual(['red', 'blue']);
  expect(found.usages.map(({ workload: each }) => found.veto?.(each))).toEqual([veto(), veto()]);
  expect(source.problems()).toMatchObject([{ root: '/evictd-none' }]);
  source.close();

  const recorded = recordedConfig(loaded);
  expect(unrecordedSources(loaded.config, recorded)).toEqual([]);
  expect(unrecordedSources(loaded.config, { ...recorded, workloads: [] })).toEqual(['/evictd-none', `toy ${toys}`]);
  const rules = [{ match: { name: 'red' }, priority: 1 }];
  expect(lintRules(subject([], { workloads, rules }), undefined)).toEqual([]);
});

test.each<[rule: string, platform: 'linux' | 'windows', entry: string, message: string, hint: string]>([
  ['text instead of a map', 'linux', 'toy: /x', 'workloads[0].toy: expected a map, got "/x"', 'write { file: /x }'],
  ['two kinds in one entry', 'linux', 'toy: {file: /x}, job: y', 'workloads[0].toy: cannot be combined with job', 'write two entries'],
  ['another operating system', 'windows', 'toy: {file: /x}', 'workloads[0]: toy: exists only on Linux', 'use a job object'],
])('the configuration reports %s', (_rule, os, entry, message, hint) => {
  const platform = os === 'windows' ? { os, programData: 'C:\\ProgramData' } : { os };
  const [issue] = errorOf(() => load({ 'config.yaml': `workloads:\n  - {${entry}}\n` }, {}, scratch(), platform)).issues;
  expect([issue?.message, issue?.hint]).toEqual([expect.stringContaining(message), expect.stringContaining(hint)]);
});
