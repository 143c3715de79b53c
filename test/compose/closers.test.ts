import { expect, test } from 'vitest';
import { Closers } from '../../src/compose/closers.js';

test.each<[rule: string, failing: string | undefined]>([
  ['the last opened first, once', undefined],
  ['all resources, even if one throws', 'b'],
])('closers close %s', (_rule, failing) => {
  const closers = new Closers();
  const closed: string[] = [];
  const resource = (name: string): { close(): void } => ({
    close: () => {
      closed.push(name);
      if (name === failing) throw new Error(name);
    },
  });
  closers.add(resource('a'));
  closers.addLast(resource('lock'));
  closers.add(resource('b'));
  const close = (): void => {
    closers.close();
  };
  if (failing === undefined) close();
  else expect(close).toThrow(failing);
  close();
  expect(closed).toEqual(['b', 'a', 'lock']);
});
