import { expect, test } from 'vitest';
import type { Reclaim } from '../../src/core/reclaim/reclaim.js';
import type { Node } from '../../src/monitor/ports/ports.js';
import { Reclaims } from '../../src/monitor/reclaims.js';
import { observations, threshold } from '../core/support.js';

const observed = observations(0n, { 'nodefs.available': 1n });
const observation = { available: 1n, capacity: 2n, timeNs: 0n, source: 'test' };
const reclaim: Reclaim = {
  threshold: threshold('nodefs.available', '100Mi'),
  observation,
  observations: observed,
  collections: ['journald'],
  candidates: undefined,
};

test('a reclaim that fails completely is over, with its reason', async () => {
  const node = {
    requestFilesystems: (onAnswer?: (outstanding: number) => void) => {
      onAnswer?.(0);
    },
  } as Node;
  const reclaims = new Reclaims({ run: () => Promise.reject(new Error('no thread')) }, node);
  await new Promise<void>((resolve) => {
    reclaims.begin(reclaim, resolve);
  });
  expect(reclaims.take()).toEqual({ errors: ['Error: no thread'] });
});
