import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, evictd as command, scratchDirectory, victimOf } from '../e2e/evictd.js';
import { hasSystemd, property, systemd, TestUnits, type UnitSections } from '../support/systemd.js';

const SLICE = 'evictdtest.slice';
const units = new TestUnits();
const unit = (name: string): string => `evictd-test-${name}.service`;
const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, at) => unit(`${name}-${String(at + 1)}`));

const [JOBS, WEB, CACHES] = [numbered('job', 14), numbered('web', 10), numbered('cache', 4)];
const STUBBORN = unit('stubborn');
const DB = unit('db');
const DAY_S = 86_400;
/** Longer than evictd needs to start again. */
const TOLERATED_S = 50;
const upSeconds = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);

/** Sets the wall clock so far from the right time, which it has again after the test. */
function jumpingClock(): (aheadSeconds: number) => void {
  const bootedAt = Date.now() / 1_000 - upSeconds();
  const setClock = (aheadSeconds: number): void => {
    systemd('date', '--utc', `--set=@${(bootedAt + upSeconds() + aheadSeconds).toFixed(3)}`);
  };
  onTestFinished(() => {
    setClock(0);
  });
  return setClock;
}

const ALL = [...JOBS, ...WEB, ...CACHES, STUBBORN, DB];

/** systemd starts each again that ends by itself. */
function service(command: string): UnitSections {
  return { Service: { ExecStart: command, Slice: SLICE, Restart: 'always', RestartSec: '100ms' } };
}

const CONFIG = {
  workloads: [{ systemd: { slices: [SLICE] } }],
  rules: [
    { match: { name: 'evictd-test-job-*' }, priority: -10, terminationGracePeriodSeconds: 5 },
    { match: { name: 'evictd-test-cache-*' }, priority: 10 },
    { match: { name: STUBBORN }, terminationGracePeriodSeconds: 2 },
    { match: { name: DB }, critical: true },
  ],
  disruptionBudgets: [
    { name: 'web', match: { name: 'evictd-test-web-*' }, minAvailable: 8 },
    { name: 'nothing', match: { name: 'evictd-test-none-*' }, minAvailable: 1 },
  ],
};

describe.runIf(hasSystemd)('evictd drain (where systemd is the init)', () => {
  beforeAll(() => {
    const stubborn = service(`/bin/sh -c 'trap "" TERM; while :; do sleep 1; done'`);
    const services = ALL.map((name) => [name, name === STUBBORN ? stubborn : service('/bin/sleep 1200')] as const);
    units.writeAll({ [SLICE]: { Slice: {} }, ...Object.fromEntries(services) });
    units.start(...ALL);
  });
  afterAll(() => {
    units.remove();
  });

  test('ends thirty units, the least important first, within the budget, across a SIGKILL to evictd and a day of the wall clock', async () => {
    const directory = scratchDirectory();
    const setClock = jumpingClock();
    const first = await new Evictd({ config: CONFIG, directory }).guarding();
    const file = ['--config', first.configFile];
    const draining = command('drain', '--timeout', '100s', ...file);
    await first.until('some have ended', () => first.journal().filter(({ type }) => type === 'outcome').length >= 3);
    await first.stop('SIGKILL');
    setClock(DAY_S);

    const second = await new Evictd({ config: CONFIG, directory }).guarding();
    const { code, stdout, stderr } = await draining;
    expect([code, stderr]).toEqual([75, expect.stringContaining('EVICTD_DRAIN_TIMEOUT')]);
    expect(stdout).toContain(`${DB} stays: critical`);
    expect(stdout).toContain('waits: the disruption budget web needs 8 healthy workloads and has 8 currently');

    const decisions = second.journal().filter(({ type }) => type === 'decision');
    const victims = decisions.map(victimOf);
    expect(new Set(victims).size).toBe(victims.length); // none twice
    expect(victims.slice(0, JOBS.length).sort()).toEqual([...JOBS].sort());
    expect(victims.slice(-CACHES.length).sort()).toEqual([...CACHES].sort());
    expect(victims.filter((name) => WEB.includes(name ?? ''))).toHaveLength(2);
    expect(second.journal().filter(({ type, result }) => type === 'outcome' && result !== 'killed')).toEqual([]);
    expect(
      second
        .journal()
        .filter(({ type }) => type === 'escalation')
        .map(victimOf),
    ).toEqual([STUBBORN]);
    expect(decisions.every(({ kind }) => kind === 'disruption')).toBe(true);

    const active = ALL.filter((name) => property(name, 'ActiveState') === 'active'); // what systemd has stopped stays stopped
    expect(active.sort()).toEqual([DB, ...WEB.filter((name) => !victims.includes(name))].sort());
    expect((await command('admit', '--name', unit('new'), ...file)).code).toBe(1);
    expect((await command('uncordon', ...file)).code).toBe(0);
    await second.until('workloads may start', async () => (await command('admit', '--name', unit('new'), ...file)).code === 0);
    expect(await second.stop()).toBe(0);
  });

  test('with a NoExecute taint stops a unit, which systemd does not start again, and a unit with a toleration stays', async () => {
    units.start(unit('job-1'), unit('cache-1'));
    const [, , ...others] = CONFIG.rules;
    const tolerations = [{ key: 'maintenance', operator: 'Exists' }];
    const rules = [
      ...others,
      { match: { name: 'evictd-test-cache-*' }, tolerations },
      { match: { name: 'evictd-test-web-*' }, tolerations },
    ];
    const evictd = await new Evictd({ config: { ...CONFIG, rules } }).guarding();
    const file = ['--config', evictd.configFile];
    expect((await command('taint', 'maintenance:NoExecute', ...file)).code).toBe(0);
    expect(victimOf(await evictd.recorded('outcome'))).toBe(unit('job-1'));
    expect(property(unit('job-1'), 'ActiveState')).toBe('inactive');
    expect([unit('cache-1'), DB].map((name) => property(name, 'ActiveState'))).toEqual(['active', 'active']);
    expect((await command('taint', 'maintenance-', ...file)).code).toBe(0);
    expect(await evictd.stop()).toBe(0);
  });

  test('honours tolerationSeconds while the wall clock jumps a day ahead and two days back, across a SIGKILL to evictd', async () => {
    units.start(WEB[0] ?? '', unit('cache-1'));
    const tolerating = (name: string, tolerationSeconds: number) => {
      const toleration = { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
      return { match: { name: `evictd-test-${name}-*` }, tolerations: [toleration] };
    };
    const rules = [tolerating('web', TOLERATED_S), tolerating('cache', 2 * DAY_S), { match: { name: DB }, critical: true }];
    const directory = scratchDirectory();
    const first = await new Evictd({ config: { ...CONFIG, rules }, directory }).guarding();
    const [began, setClock] = [upSeconds(), jumpingClock()];
    expect((await command('taint', 'maintenance:NoExecute', '--config', first.configFile)).code).toBe(0);
    setClock(DAY_S);
    await first.stop('SIGKILL');
    const second = await new Evictd({ config: { ...CONFIG, rules }, directory }).guarding();
    setClock(-2 * DAY_S);

    const decision = await second.recorded('decision', WEB[0]);
    expect(upSeconds() - began).toBeGreaterThanOrEqual(TOLERATED_S);
    expect(decision).toMatchObject({ disruption: { message: `it tolerated the taint maintenance:NoExecute for ${String(TOLERATED_S)}s` } });
    await second.until('they have ended', () => WEB.every((name) => property(name, 'ActiveState') === 'inactive'));
    expect(property(unit('cache-1'), 'ActiveState')).toBe('active');
    expect((await command('taint', 'maintenance-', '--config', second.configFile)).code).toBe(0);
    expect(await second.stop()).toBe(0);
  });

  test('treats a unit that is not up as not healthy: the healthy one stays, and the other ends as its policy permits', async () => {
    const starting = unit('health-starting'); // Type=notify: it never reports that it is up
    const failed = unit('health-failed'); // and a process of it is left
    const [ready = '', other = ''] = numbered('health-up', 2);
    units.writeAll({
      [starting]: { Service: { Type: 'notify', TimeoutStartSec: 'infinity', ExecStart: '/bin/sleep 1200', Slice: SLICE } },
      [failed]: { Service: { KillMode: 'process', ExecStart: `/bin/sh -c 'sleep 1200 & sleep 1; exit 1'`, Slice: SLICE } },
      [ready]: service('/bin/sleep 1200'),
      [other]: service('/bin/sleep 1200'),
    });
    units.start(ready, other);
    systemd('systemctl', 'start', '--no-block', starting);
    onTestFinished(() => {
      systemd('systemctl', 'stop', starting, ready, other);
    });
    const budget = { name: 'health', match: { name: 'evictd-test-health-*' }, minAvailable: 3 };
    const configured = (more: object) => ({ ...CONFIG, disruptionBudgets: [{ ...budget, ...more }] });
    const evictd = await new Evictd({ config: configured({}) }).guarding();
    const evicts = (...args: readonly string[]) => command('evict', ...args, '--config', evictd.configFile);
    const counted = (what: string) => evictd.metric(`evictd_disruption_budget_${what}{budget="health"}`);
    await evictd.until('systemd has described them', async () => (await counted('current_healthy')) === 2);
    expect(await counted('expected_workloads')).toBe(3);
    for (const name of [ready, starting]) {
      const { code, stderr } = await evicts(name);
      expect([code, stderr]).toEqual([75, expect.stringContaining('the disruption budget health needs 3 healthy workloads and has 2')]);
    }
    await evictd.reloaded(configured({ unhealthyPolicy: 'AlwaysAllow' }));
    expect((await evicts(ready)).code).toBe(75);
    expect((await evicts(starting)).code).toBe(0);
    await evictd.until('it has ended', () => property(starting, 'ActiveState') === 'inactive');
    expect([ready, other].map((name) => property(name, 'ActiveState'))).toEqual(['active', 'active']);

    await evictd.reloaded(configured({ minAvailable: 2 })); // unhealthyPolicy: IfHealthyBudget
    units.start(failed);
    await evictd.until('it has failed', () => property(failed, 'ActiveState') === 'failed');
    const isSeen = async () => (await evicts(failed, '--dry-run')).code === 0;
    await evictd.until('evictd has seen that', async () => (await isSeen()) && (await counted('current_healthy')) === 2);
    expect((await evicts(ready)).code).toBe(75);
    expect((await evicts(failed)).code).toBe(0);
    expect(await evictd.recorded('outcome', failed)).toMatchObject({ result: 'killed' });
    expect(await evictd.stop()).toBe(0);
  });
});
