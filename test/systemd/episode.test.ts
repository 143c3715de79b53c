import { describe, expect, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { SLOWNESS } from '../support/slowness.js';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile } from '../e2e/wait.js';
import { holding, Scene } from './scene.js';

// A slice of 512 MiB is the node, and its units are the workloads.

function watching(scene: Scene, more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    evictionHard: { 'memory.available': '256Mi' },
    node: { cgroup: `/${scene.slice}` },
    workloads: [{ systemd: { slices: [scene.slice] } }],
    ...more,
  };
}

describe.runIf(hasSystemd)(`an episode with units as workloads (${ON}; needs systemd)`, () => {
  test.each([
    ['evicts one unit if that is enough', {}, ['evictd-test-grown.service']],
    [
      'evicts as many units as the minimum reclaim needs, and no more',
      { evictionMinimumReclaim: { 'memory.available': '160Mi' } },
      ['evictd-test-grown.service', 'evictd-test-second.service'],
    ],
  ])('%s', async (_rule, more, victims) => {
    const scene = new Scene(512);
    const name = scene.service('grown', holding(170));
    const [second, third] = await scene.holders({ second: { mib: 80 }, third: { mib: 40 } });
    const evictd = await new Evictd({ config: watching(scene, more) }).guarding();

    const [grown] = scene.start(name);
    await evictd.until('all victims are gone', () => evictd.journal().filter(({ type }) => type === 'outcome').length === victims.length);
    await evictd.until('the episode ends', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
    await aWhile();

    expect(
      evictd
        .journal()
        .filter(({ type }) => type === 'decision')
        .map(victimOf),
    ).toEqual(victims);
    expect(grown?.ended()).toBe(true);
    expect(second?.untouched()).toBe(victims.length === 1);
    expect(third?.untouched()).toBe(true);
  });

  test('a condition clears after its transition period', async () => {
    const scene = new Scene(512);
    scene.start();
    const periodS = 2 * SLOWNESS;
    const config = watching(scene, { evictionPressureTransitionPeriod: `${String(periodS)}s`, monitoringInterval: '500ms' });
    const evictd = await new Evictd({ config }).guarding();

    scene.start(scene.service('grown', holding(290)));
    const began = await evictd.recorded('condition');
    const outcome = await evictd.recorded('outcome');
    await evictd.until('the condition clears', () => evictd.journal().some(({ type, status }) => type === 'condition' && status === false));
    const records = evictd.journal().filter(({ type }) => ['condition', 'outcome'].includes(type));
    expect(records.map(({ type, status }) => [type, status])).toEqual([
      ['condition', true],
      ['outcome', undefined],
      ['condition', false],
    ]);
    expect(began).toMatchObject({ condition: 'MemoryPressure' });
    // Times of records are imprecise: half of the period is proof enough.
    expect(Date.parse(records[2]?.time ?? '') - Date.parse(outcome.time)).toBeGreaterThanOrEqual(periodS * 500);
  });
});
