import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HELD_DIRECTORY, restraintFilesIn } from '../../src/features/policy/restraint/restraint-file.js';
import { freezable, freezers } from '../features/policy/ladder.js';
import { Evictd, evictd, type JournalLine, type RunOptions } from './evictd.js';
import { guarding, isV1, MIB, ON, processesIn, testNode, workload, type WorkloadPlan } from './node.js';

const [freezer = 'freezer'] = freezers;

describe.runIf(freezers.length > 0)('a workload that a policy throttles or freezes', () => {
  const workload = freezable(freezer);
  /** Always true: every process has pages. */
  const policy = (...then: readonly object[]) => ({
    name: 'always',
    scope: { cgroup: workload().cgroup.path },
    when: 'memory.current > 1Ki',
    then,
  });
  const config = (...policies: readonly object[]): RunOptions['config'] => ({
    evictionHard: { 'memory.available': '1Mi' },
    node: { cgroup: workload().node.path },
    workloads: [{ cgroup: workload().node.path }],
    policies,
  });
  const freeze = { freeze: { for: '10m' } };

  const frozen = async (guarding: Evictd): Promise<Evictd> => {
    await guarding.guarding();
    await guarding.until('the workload is frozen', () => workload().isFrozen());
    return guarding;
  };
  const files = ({ directory }: Evictd): string[] =>
    restraintFilesIn(HELD_DIRECTORY).filter((path) => existsSync(path) && readFileSync(path, 'utf8').includes(directory));

  test('is released when evictd stops', async () => {
    const guarding = await frozen(new Evictd({ config: config(policy(freeze)) }));
    expect(files(guarding)).toHaveLength(1);
    expect(await guarding.stop()).toBe(0);
    expect(workload().isFrozen()).toBe(false);
    expect(files(guarding)).toEqual([]);
  });

  test('is released after kill -9, by the next evictd, which needs no policy for that', async () => {
    const killed = await frozen(new Evictd({ config: config(policy(freeze)) }));
    await killed.stop('SIGKILL');
    const next = await new Evictd({ config: config(), directory: killed.directory }).guarding();
    expect(workload().isFrozen()).toBe(false);
    expect(files(next)).toEqual([]);
  });

  test.each<[what: string, args: readonly string[]]>([
    ['with another runtime directory', []],
    ['in dry run, too', ['--dry-run']],
  ])('is released by the next evictd %s', async (_what, args) => {
    const killed = await frozen(new Evictd({ config: config(policy(freeze)) }));
    await killed.stop('SIGKILL');
    const next = await new Evictd({ config: config(), args }).guarding();
    expect(next.directory).not.toBe(killed.directory);
    expect([workload().isFrozen(), files(killed)]).toEqual([false, []]);
  });

  test('is released by evictd restore', async () => {
    const killed = await frozen(new Evictd({ config: config(policy(freeze)) }));
    await killed.stop('SIGKILL');
    const run = join(killed.directory, 'run');
    const { code, stdout } = await evictd('restore', '--config', killed.configFile, '--runtime-directory', run);
    // Or another evictd of this machine has been sooner.
    expect(stdout).toMatch(/^restore \S+ \((cgroup\.freeze|freezer\.state) of \S+: (0|THAWED)\)$|^nothing is left to undo$/m);
    expect(code).toBe(0);
    expect(workload().isFrozen()).toBe(false);
  });

  test('is released by an evictd that cannot start, because its configuration is wrong', async () => {
    const killed = await frozen(new Evictd({ config: config(policy(freeze)) }));
    await killed.stop('SIGKILL');
    const wrong = join(killed.directory, 'wrong.yaml');
    writeFileSync(wrong, 'nonsense: 1\n');
    const { code } = await evictd('run', '--config', wrong);
    expect(code).toBe(78);
    expect(workload().isFrozen()).toBe(false);
  });

  test('is released when a reload removes the policy, and evictd continues', async () => {
    const guarding = await frozen(new Evictd({ config: config(policy(freeze)) }));
    await guarding.reloaded(config());
    await guarding.until('it is thawed', () => !workload().isFrozen());
    expect(files(guarding)).toEqual([]);
    await guarding.reloaded(config(policy(freeze)));
    await guarding.until('it is frozen again', () => workload().isFrozen());
  });

  test('is released when its time is over, and the journal has the action and its result', async () => {
    const guarding = await new Evictd({ config: config(policy({ freeze: { for: '1s' } })) }).guarding();
    const actions = (): unknown[] =>
      guarding.journal().flatMap(({ type, event, action, result }) => (type === 'policy' ? [[event, action, result]] : []));
    await guarding.until('it was thawed', () => actions().some((entry) => JSON.stringify(entry) === '["result","thaw","done"]'));
    expect(actions()).toEqual(
      expect.arrayContaining([
        ['act', 'freeze', undefined],
        ['result', 'freeze', 'done'],
        ['act', 'thaw', undefined],
      ]),
    );
    expect(workload().isFrozen()).toBe(false);
  });

  test('is only recorded in a dry run', async () => {
    const dry = await new Evictd({ config: config(policy(freeze)), args: ['--dry-run'] }).guarding();
    expect(await dry.recorded('policy')).toMatchObject({ action: 'freeze' });
    expect(workload().isFrozen()).toBe(false);
    expect(files(dry)).toEqual([]);
  });
});

describe.runIf(freezers.length > 0)(`a hard threshold does not wait for a step (${ON})`, () => {
  const held = freezable(freezer);
  /** The records of the policy and of the evictions, in brief. */
  const brief = (lines: readonly JournalLine[]): string[] =>
    lines.flatMap(({ type, event, action, result, kind, reason, victim }) => {
      const said =
        type === 'policy' ? [event, action, result, reason] : [type, kind, reason, (victim as { name?: string } | undefined)?.name];
      const isTold = ['policy', 'decision', 'escalation', 'outcome'].includes(type);
      return isTold ? [said.filter((part) => typeof part === 'string').join(' ')] : [];
    });
  /** One policy that acts at once, in the step when this resolves; and a workload outside its scope that can cross the threshold. */
  const acting = async (step: object, rules: readonly object[] = []) => {
    const { node, cgroup } = held();
    node.limit(512n << 20n);
    const batch = await workload(node.child('batch'), { growsMib: 160 });
    const policies = [{ name: 'always', scope: { cgroup: cgroup.path }, when: 'memory.current > 1Ki', then: [step] }];
    const evictd = await new Evictd({ config: { ...guarding(node, rules), policies } }).guarding();
    await evictd.until('the step has begun', () => brief(evictd.journal()).length > 0 && held().isFrozen() === 'freeze' in step);
    return { evictd, batch, records: () => brief(evictd.journal()) };
  };

  test.each<[step: object, ...records: readonly string[]]>([
    [{ freeze: { for: '10m' } }, 'act freeze', 'result freeze done'],
    [{ run: { command: ['/bin/sleep', '600'], timeout: '10m' } }, 'act run'],
  ])('%j: evictd evicts at once, and the step continues', async (step, ...before) => {
    const { evictd, batch, records } = await acting(step);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const decision = await evictd.recorded('decision');
    await evictd.recorded('outcome');
    expect(decision).toMatchObject({ signal: 'memory.available', kind: 'hard', action: 'SIGKILL', graceSeconds: 0 });
    expect(records()).toEqual([...before, 'decision hard batch', 'outcome batch']);
    expect([held().isFrozen(), processesIn(held().cgroup)]).toEqual(['freeze' in step, [held().pid]]);
    expect(await evictd.stop()).toBe(0);
    expect(held().isHeld()).toBe(false);
  });

  test('a frozen workload that is the victim is thawed first, and its ladder ends', async () => {
    const { evictd, batch, records } = await acting({ freeze: { for: '10m' } }, [{ match: { name: 'batch' }, critical: true }]);
    batch.grow();
    await evictd.until('the frozen workload has ended', () => processesIn(held().cgroup).length === 0);
    await evictd.recorded('outcome');
    const { name } = held().target;
    expect(records().slice(0, 4)).toEqual(['act freeze', 'result freeze done', 'act thaw evicted', `decision hard ${name}`]);
    expect([held().isHeld(), batch.alive]).toEqual([false, true]);
  });

  test('the grace period of a stop ends, and the next workload is evicted', async () => {
    await held().cgroup.spawn('sleep', ['600'], { ignoring: 'TERM' });
    const { evictd, batch, records } = await acting({ stop: { grace: '10m' } });
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    // A standing order kills first, and is recorded then.
    await evictd.recorded('outcome', 'batch');
    const { name } = held().target;
    expect(records()).toEqual(
      expect.arrayContaining([`decision policy ${name}`, `escalation hard threshold met ${name}`, 'decision hard batch']),
    );
  });
});

describe.skipIf(isV1)('a workload that a policy throttles (cgroup v2)', () => {
  const throttled = async (plan: WorkloadPlan) => {
    const node = testNode();
    const slow = node.child('slow');
    const leak = await workload(slow, plan);
    const limit = (): string => slow.read('memory.high').trim();
    const config = (...then: readonly object[]): RunOptions['config'] => ({
      ...guarding(node),
      evictionHard: { 'memory.available': '1Mi' },
      policies: then.length === 0 ? [] : [{ name: 'always', scope: { cgroup: node.path }, when: 'memory.current > 1Ki', then }],
    });
    return { leak, limit, config };
  };

  test('is released after kill -9 by the next evictd, and when a reload removes the policy', async () => {
    const { limit, config } = await throttled({ holdsMib: 20 });
    const step = { throttle: { memoryHigh: '200Mi', for: '10m' } };
    const isThrottled = (): boolean => limit() === String(200 * MIB);
    const killed = await new Evictd({ config: config(step) }).guarding();
    await killed.until('it is throttled', isThrottled);
    await killed.stop('SIGKILL');
    const next = await new Evictd({ config: config(), directory: killed.directory }).guarding();
    expect(limit()).toBe('max');
    await next.reloaded(config(step));
    await next.until('it is throttled again', isThrottled);
    await next.reloaded(config());
    await next.until('it is given back', () => limit() === 'max');
  });

  test('and that makes no progress is released long before its time, and the ladder continues', async () => {
    const { leak, limit, config } = await throttled({ holdsMib: 40, growsMib: Infinity });
    const steps = [{ throttle: { memoryHigh: '16Mi', for: '10m' } }, { kill: { by: ['size'] } }];
    const evictd = await new Evictd({ config: config(...steps) }).guarding();
    await evictd.until('it is throttled', () => limit() === String(16 * MIB));
    leak.grow();
    expect(await evictd.recorded('decision')).toMatchObject({ victim: { name: 'slow' }, policy: { name: 'always' } });
    const acts = evictd.journal().flatMap(({ event, action, reason }) => (event === 'act' ? [[action, reason]] : []));
    expect(acts).toEqual([
      ['throttle', undefined],
      ['unthrottle', 'no-progress'],
    ]);
    expect(limit()).toBe('max');
  });
});
