import { rmSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../e2e/wait.js';
import { hasSystemd, property } from '../support/systemd.js';
import { holding, kernelKills, Scene } from './scene.js';
import { answers, configure, evictd, records, SERVICE, traces } from './service.js';

// The first steps of a new user. The leak stops before the machine is full, so there is no race with the kernel.

describe.runIf(hasSystemd)('evictd as a service', () => {
  test('is installed, evicts a leaking unit that history names, and is uninstalled without a trace', async () => {
    onTestFinished(() => void evictd('uninstall'));
    const scene = new Scene();
    const before = { traces: traces(), kernelKills: kernelKills() };
    const neighbours = await scene.holders({ db: { mib: 80 }, web: { mib: 60 } });
    configure({ evictionHard: { 'memory.available': '50%' }, workloads: [{ systemd: { slices: [scene.slice] } }] });

    const installed = evictd('install', '--now');
    expect([installed.status, installed.stderr]).toEqual([0, '']);
    expect(property(SERVICE, 'ActiveState')).toBe('active');
    await answers();

    const [leaker] = scene.start(scene.service('leak', holding(1300)));
    await until('the outcome is recorded', () => records('outcome').length > 0);

    expect(records('decision')).toHaveLength(1);
    expect(records('outcome')).toMatchObject([{ result: 'killed', victim: { name: 'evictd-test-leak.service' } }]);
    await until('systemd has seen the end', () => leaker?.ended() === true);
    expect(neighbours.filter((unit) => !unit.untouched()).map(({ name }) => name)).toEqual([]);
    expect(kernelKills()).toBe(before.kernelKills);
    const history = evictd('history');
    expect([history.status, history.stdout]).toEqual([0, expect.stringContaining('evictd-test-leak.service')]);

    const uninstalled = evictd('uninstall');
    expect([uninstalled.status, uninstalled.stderr]).toEqual([0, '']);
    // Configuration and journal stay after an uninstallation.
    for (const kept of ['/etc/evictd', '/var/lib/evictd']) rmSync(kept, { recursive: true, force: true });
    expect(traces()).toEqual(before.traces);
  });
});
