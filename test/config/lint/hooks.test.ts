import { expect, test } from 'vitest';
import { hooksRule } from '../../../src/config/lint/hooks.js';
import { machine, subject } from './support.js';

const hook = (program: string) => ({ argv: [program], timeoutNs: 1n });
const hooks = { preEvict: { ...hook('/a'), deadlineNs: 1n }, postEvict: hook('/b'), prekill: undefined };

test.each<[what: string, programs: ReadonlyMap<string, string> | undefined, keys: readonly string[]]>([
  ['programs that only root can change', new Map(), []],
  ['programs that were not looked at', undefined, []],
  ['a hook program that another user can change', new Map([['/b', '/b belongs to user 1000']]), ['hooks.postEvict']],
])('%s', (_what, programs, keys) => {
  const found = hooksRule.find(subject([], { hooks }), machine(programs && { programs }));
  expect(found.map(({ key }) => key)).toEqual(keys);
});
