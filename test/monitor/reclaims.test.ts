import { expect, test, vi } from 'vitest';
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

test('while a filesystem does not answer, its last reading is used at the second tick, and not at the one just after the collections', async () => {
  const asked: ((outstanding: number) => void)[] = [];
  const node = { requestFilesystems: (onAnswer: (outstanding: number) => void) => void asked.push(onAnswer) } as Node;
  const reading = { errors: [] };
  const reclaims = new Reclaims({ run: () => Promise.resolve(reading) }, node);
  const results: unknown[] = [];
  const begin = async (): Promise<void> => {
    reclaims.begin(reclaim, () => results.push(reclaims.take()));
    await vi.waitFor(() => {
      expect(asked).toHaveLength(1);
    }, 30_000);
  };
  await begin();
  reclaims.useLastReadings();
  expect(reclaims.take()).toBeUndefined();
  asked.pop()?.(0); // the answer was on its way
  expect(results).toEqual([reading]);
  await begin();
  reclaims.useLastReadings();
  expect(reclaims.take()).toBeUndefined();
  reclaims.useLastReadings();
  expect(reclaims.take()).toEqual(reading);
});
