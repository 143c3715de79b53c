import { describe, expect, test } from 'vitest';
import { evictd as command, Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

const budget = { name: 'web', match: { name: 'web-*' }, minAvailable: 2 };
const CRITICAL = [{ match: { name: 'db' }, critical: true }];
const evict = (evictd: Evictd, ...args: readonly string[]) => command('evict', ...args, '--config', evictd.configFile);

describe(`evictd evict (${ON})`, () => {
  test('as far as the budget permits: SIGTERM, its grace period, an outcome; what is refused is told apart', async () => {
    const node = testNode();
    const [one, two, three, db] = await Promise.all(
      ['web-1', 'web-2', 'web-3', 'db'].map((name) => workload(node.child(name), { onTerm: 'ignore' })),
    );
    const evictd = await new Evictd({ config: { ...guarding(node, CRITICAL), disruptionBudgets: [budget] } }).guarding();

    const dry = await evict(evictd, 'web-1', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([0, 'web-1: would be evicted\n']);
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toEqual([]);

    const done = await evict(evictd, 'web-1', '--grace', '1s', '--wait');
    expect([done.code, done.stdout, done.stderr]).toEqual([
      0,
      expect.stringMatching(/^web-1: is being evicted\nevicted web-1: freed /),
      '',
    ]);
    expect(await one?.ended).toBe('SIGKILL'); // it ignores SIGTERM
    expect(await evictd.recorded('decision')).toMatchObject({ kind: 'disruption', disruption: { reason: 'eviction' }, graceSeconds: 1 });

    const refused = await evict(evictd, 'web-2', 'db', 'nginx');
    expect(refused.code).toBe(75);
    expect(refused.stderr).toContain('EVICTD_EVICT_BUDGET');
    expect(refused.stderr).toContain('The disruption budget web needs 2 healthy pods and has 2 currently');
    expect(refused.stderr).toContain('EVICTD_EVICT_REFUSED: workloads "db" is forbidden: critical');
    expect(refused.stderr).toContain('EVICTD_EVICT_WORKLOAD: workloads "nginx" not found');
    expect((await evict(evictd, 'db')).code).toBe(1);
    expect((await evict(evictd, 'nginx')).code).toBe(66);
    expect([two?.alive, three?.alive, db?.alive]).toEqual([true, true, true]);
  });
});
