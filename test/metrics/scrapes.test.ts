import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Scrapes } from '../../src/metrics/scrapes.js';

/** Each scrape takes so much processor time, and is the number of those before. */
function scrapesTaking(ms: number): { readonly scrapes: Scrapes; readonly rendered: () => number; readonly renewed: () => number } {
  let [usedMs, rendered, renewed] = [0, 0, 0];
  vi.spyOn(process, 'cpuUsage').mockImplementation((before) => ({ user: usedMs * 1_000 - (before?.user ?? 0), system: 0 }));
  onTestFinished(() => void vi.restoreAllMocks());
  const registry = {
    metrics: (): Promise<string> => {
      usedMs += ms;
      rendered += 1;
      return Promise.resolve(String(rendered));
    },
  };
  return { scrapes: new Scrapes({ renew: () => (renewed += 1) }, registry), rendered: () => rendered, renewed: () => renewed };
}

test('scrapes in a loop are rendered with pauses, and those that wait share one answer', async () => {
  const { scrapes, rendered, renewed } = scrapesTaking(5);
  expect(String(await scrapes.body('text', false))).toBe('1');
  const waiting = Array.from({ length: 100 }, () => scrapes.body('text', false));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(rendered()).toBe(1);
  expect(new Set((await Promise.all(waiting)).map(String))).toEqual(new Set(['2']));
  expect(renewed()).toBe(2);
});

test('a scrape has values that are not older than it', async () => {
  const { scrapes } = scrapesTaking(0);
  const first = scrapes.body('text', false);
  await first;
  expect(String(await scrapes.body('text', false))).toBe('2');
});

test('formats and encodings are not mixed up', async () => {
  const { scrapes, rendered } = scrapesTaking(0);
  const [text, compressed, open] = await Promise.all([
    scrapes.body('text', false),
    scrapes.body('text', true),
    scrapes.body('openmetrics', false),
  ]);
  expect([String(text), String(gunzipSync(compressed)), String(open)]).toEqual(['1', '2', '3']);
  expect(rendered()).toBe(3);
});

test('a scrape after one that failed is rendered anew', async () => {
  const metrics = vi.fn().mockRejectedValueOnce(new Error('EIO')).mockResolvedValueOnce('text');
  const scrapes = new Scrapes({ renew: () => undefined }, { metrics });
  await expect(scrapes.body('text', false)).rejects.toThrow('EIO');
  expect(String(await scrapes.body('text', false))).toBe('text');
});
