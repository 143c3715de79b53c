import { expect, test } from 'vitest';
import type { Rule } from '../../src/core/rule.js';
import { objectionNow } from '../../src/workloads/emptying-objection.js';
import { workload } from '../core/support.js';

const PATH = '/srv/scratch';
const owner = workload('a');
const emptied = (name: string): Rule => ({ match: { name }, directories: [{ path: PATH, onEvict: 'empty' }] });
const owning = (name: string, path: string) => workload(name, { directories: [{ path, onEvict: 'keep' }] });
const kept = [{ path: '/data/containerd', why: 'it holds images' }];

test.each<[rule: string, path: string, rules: readonly Rule[], others: readonly ReturnType<typeof workload>[], why: RegExp | undefined]>([
  ['nothing is against it', PATH, [emptied('a')], [owning('a', PATH), owning('b', '/srv/other')], undefined],
  ['its rule is gone', PATH, [], [], /no rule/],
  ['its rule is of another one', PATH, [emptied('b')], [], /no rule/],
  ['it is kept by now', PATH, [{ match: {}, directories: [{ path: PATH, onEvict: 'keep' }] }], [], /no rule/],
  ['its owner is critical by now', PATH, [emptied('a'), { match: { name: 'a' }, critical: true }], [], /critical/],
  ['another one runs that has it, too', PATH, [emptied('*')], [owning('b', PATH)], /b, too/],
  ['another one runs that has what it is in', PATH, [emptied('a')], [owning('b', '/srv')], /b, too/],
  ['a runtime has told that it is in it', '/data', [], [], /holds images/],
  ['it is in what a runtime has told of', '/data/containerd/x', [], [], /holds images/],
  ['it is never emptied', '/etc', [], [], /system/],
])('%s', (_rule, path, rules, workloads, why) => {
  const objection = objectionNow(path, owner, { rules, workloads, kept });
  if (why === undefined) expect(objection).toBeUndefined();
  else expect(objection).toMatch(why);
});
