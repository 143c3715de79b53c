import { describe, expect, test } from 'vitest';
import { Evictd } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

/** A soft threshold at 128 MiB whose grace period of 1 ns is over at the next reading, and a hard one far above. */
function softly(node: Parameters<typeof guarding>[0], rules: readonly object[] = [], more: object = {}): Record<string, unknown> {
  return {
    ...guarding(node, rules),
    evictionHard: { 'memory.available': '64Mi' },
    evictionSoft: ABOVE_128_MIB,
    evictionSoftGracePeriod: { 'memory.available': '200ms' },
    evictionMaxPodGracePeriod: 60,
    ...more,
  };
}

describe(`a soft eviction (${ON})`, () => {
  test('waits for the grace period of the threshold, and sends SIGTERM first', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'exit' });
    const evictd = await new Evictd({ config: softly(node, [], { evictionSoftGracePeriod: { 'memory.available': '1s' } }) }).guarding();
    batch.grow();
    expect(await batch.ended).toBeNull(); // exited by itself
    expect(batch.said()).toContain('bye');
    const outcome = await evictd.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    const journal = evictd.journal();
    const decision = journal.find(({ type }) => type === 'decision');
    expect(decision).toMatchObject({ kind: 'soft', action: 'SIGTERM', graceSeconds: 60, wake: 'deadline' });
    expect(journal.map(({ type }) => type)).not.toContain('escalation');
    const met = journal.find(({ type, met }) => type === 'threshold' && met === true);
    // Times of records, which are written slightly later than the events: half of the period is proof enough.
    expect(Date.parse(decision?.time ?? '') - Date.parse(met?.time ?? '')).toBeGreaterThanOrEqual(500);
  });

  test('does not happen if the pressure ends within the grace period', async () => {
    const node = testNode();
    const [batch, other] = [await workload(node.child('batch'), { growsMib: 100 }), await workload(node.child('other'), { holdsMib: 60 })];
    const evictd = await new Evictd({ config: softly(node, [], { evictionSoftGracePeriod: { 'memory.available': '2s' } }) }).guarding();
    batch.grow();
    await evictd.recorded('threshold');
    other.child.kill('SIGKILL'); // not by evictd
    await evictd.until('the episode is over', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
    expect(evictd.journal().map(({ type }) => type)).not.toContain('decision');
    expect(batch.alive).toBe(true);
  });

  test.each<[rule: string, rules: readonly object[], most: number, graceSeconds: number]>([
    ['evictionMaxPodGracePeriod is over', [], 1, 1],
    ['its own grace period, which is smaller, is over', [{ match: {}, terminationGracePeriodSeconds: 1 }], 60, 1],
    ['evictionMaxPodGracePeriod, which is smaller than its own, is over', [{ match: {}, terminationGracePeriodSeconds: 60 }], 1, 1],
  ])('kills a victim that ignores SIGTERM when %s', async (_rule, rules, evictionMaxPodGracePeriod, graceSeconds) => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
    const evictd = await new Evictd({ config: softly(node, rules, { evictionMaxPodGracePeriod }) }).guarding();
    batch.grow();
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ action: 'SIGTERM', graceSeconds });
    expect(await batch.ended).toBe('SIGKILL');
    const outcome = await evictd.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed' });
    const escalation = await evictd.recorded('escalation');
    expect(escalation).toMatchObject({ decision: 1, reason: 'grace period over', victim: { name: 'batch' } });
    const { decisionToSignal = 0, signalToExit = 0, killToExit = 0 } = outcome.spansMs as Record<string, number>;
    expect(decisionToSignal + signalToExit - killToExit).toBeGreaterThanOrEqual(graceSeconds * 1000 - 0.01); // rounded to microseconds
  });

  test('kills at once when a hard threshold is met during the grace period', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
    const evictd = await new Evictd({ config: softly(node, [], { evictionHard: { 'memory.available': '250Mi' } }) }).guarding();
    batch.grow();
    await evictd.recorded('decision');
    expect(batch.alive).toBe(true);
    batch.grow(); // 280 MiB: less than 250 of 512 MiB are available
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('escalation')).toMatchObject({ reason: 'hard threshold met' });
    await evictd.recorded('outcome');
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('is left to the next evictd at %s, which is logged', async (signal) => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
    const evictd = await new Evictd({ config: softly(node) }).guarding();
    batch.grow();
    await evictd.recorded('decision');
    expect(await evictd.stop(signal)).toBe(0);
    expect(batch.alive).toBe(true);
    expect(evictd.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^SIGTERM sent to batch, and its grace period is not over/),
    );
  });

  test('starts no second eviction during the grace period of the first', async () => {
    const node = testNode();
    const [batch, other] = [
      await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' }),
      await workload(node.child('other'), { holdsMib: 10 }),
    ];
    const evictd = await new Evictd({ config: { ...softly(node), monitoringInterval: '100ms' } }).guarding();
    batch.grow();
    await evictd.recorded('decision', 'batch');
    await aWhile();
    await aWhile();
    expect([batch.alive, other.alive]).toEqual([true, true]);
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
  });
});
