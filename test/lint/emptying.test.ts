import { expect, test } from 'vitest';
import type { Rule } from '../../src/core/rule.js';
import { lintEmptying } from '../../src/lint/emptying.js';
import { machine, subject } from './support.js';

const rule = (path: string, onEvict: 'keep' | 'empty'): Rule => ({ match: { name: 'batch' }, directories: [{ path, onEvict }] });

test('a directory that is emptied and is read-only is said, by its rule', () => {
  const rules = [rule('/srv/kept', 'keep'), rule('/srv/written', 'empty'), rule('/srv/own', 'empty')];
  const found = lintEmptying(subject([], { rules }), machine({ readOnly: ['/srv/kept', '/srv/own'] }));
  expect(found).toMatchObject([{ level: 'warn', code: 'EVICTD_DIRECTORY_NOT_EMPTIED', key: 'rules[2]' }]);
  expect(found[0]?.hint).toContain('ReadWritePaths=-/srv/own');
  expect(lintEmptying(subject([], { rules }), undefined)).toEqual([]);
});
