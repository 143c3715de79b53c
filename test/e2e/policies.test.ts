import { chmodSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loopWorks } from '../support/loop-filesystem.js';
import { disk } from './disk-holder.js';
import { Evictd, evictd as command, type JournalLine } from './evictd.js';
import { guarding, MIB, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

/** The policy's records and the evictions, in brief. */
const brief = (lines: readonly JournalLine[]): string[] =>
  lines.flatMap(({ type, event, action, result, reason, victim, dryRun }) => {
    const { name = '' } = (victim ?? {}) as { name?: string };
    if (type === 'decision') return [`${dryRun === true ? 'would ' : ''}evict ${name}`];
    if (type === 'outcome') return [`${String(result)} ${name}`];
    if (type !== 'policy') return [];
    return [[event, action, result, reason].flatMap((part) => (typeof part === 'string' ? [part] : [])).join(' ')];
  });

describe(`a policy of one cgroup (${ON})`, () => {
  const guarded = async () => {
    const node = testNode();
    const slice = node.child('slice');
    const db = await workload(slice.child('db'), { holdsMib: 60 });
    const batch = await workload(slice.child('batch'), { holdsMib: 10, growsMib: 60 });
    const small = await workload(slice.child('small'), { holdsMib: 20 });
    const outside = await workload(node.child('other').child('outside'), { holdsMib: 120 });
    const config = {
      ...guarding(node, [{ match: { name: 'db' }, critical: true }]),
      evictionHard: { 'memory.available': '1Mi' },
      workloads: [{ cgroup: slice.path }, { cgroup: `${node.path}/other` }],
      policies: [
        {
          name: 'bounded',
          scope: { cgroup: slice.path },
          when: 'memory.current > 130Mi',
          for: '1s',
          then: ['notify', { kill: { by: ['size'] } }],
        },
      ],
    };
    return { slice, db, batch, small, outside, config };
  };

  test('notifies and ends the largest evictable workload of the cgroup, and a replay decides the same', async () => {
    const { slice, db, batch, small, outside, config } = await guarded();
    const directory = temporaryDirectory('/dev/shm');
    const recording = join(directory, 'recording');
    const evictd = await new Evictd({ config, args: ['--record', recording] }).guarding();
    await aWhile();
    expect(brief(evictd.journal())).toEqual([]); // 90 MiB and some page cache

    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    await evictd.until('the ladder has ended', () => brief(evictd.journal()).some((line) => line.startsWith('end')));
    await aWhile(); // a second victim would be a defect
    expect([db.alive, small.alive, outside.alive]).toEqual([true, true, true]);

    const decided = brief(evictd.journal());
    expect(decided).toEqual(
      expect.arrayContaining(['act notify', 'result notify done', 'evict batch', 'killed batch', 'result kill done']),
    );
    expect(decided.indexOf('act notify')).toBeLessThan(decided.indexOf('evict batch'));
    const decision = evictd.journal().find(({ type }) => type === 'decision');
    expect(decision).toMatchObject({
      signal: 'policy',
      kind: 'policy',
      policy: { name: 'bounded', scope: slice.path, condition: 'memory.current > 130Mi' },
    });
    const { values } = decision?.policy as { values: Record<string, number> };
    expect(values['memory.current']).toBeGreaterThan(130 * MIB);
    expect(await evictd.metric('evictd_policy_actions_total{policy="bounded",action="kill",result="done"}')).toBe(1);
    expect(await evictd.metric('evictd_evictions_total{eviction_signal="policy"}')).toBe(1);

    expect(await evictd.stop()).toBe(0);
    const { code, stdout, stderr } = await command('replay', recording, '--output', 'json');
    expect(code, stderr).toBe(0);
    const [run] = (JSON.parse(stdout) as { runs: readonly { records: readonly JournalLine[]; deviations: readonly string[] }[] }).runs;
    expect(run?.deviations).toEqual([]);
    expect(brief(run?.records ?? [])).toEqual(decided);
  });

  test('with a program that other users can change logs a warning at the start, its step fails, and the ladder continues', async () => {
    const { slice, batch, config } = await guarded();
    const program = join(temporaryDirectory('/run'), 'relieve');
    writeFileSync(program, '#!/bin/sh\n');
    chmodSync(program, 0o757);
    const policies = [
      { name: 'bounded', scope: { cgroup: slice.path }, when: 'memory.current > 130Mi', then: [{ run: [program] }, 'kill'] },
    ];
    const evictd = await new Evictd({ config: { ...config, policies } }).guarding();
    await evictd.logged(/^the step run of policy bounded will fail: .*relieve is writable by all users$/);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(brief(evictd.journal())).toEqual(expect.arrayContaining(['act run', 'result run failed', 'killed batch']));
  });

  test('runs its own hook after its eviction, and not that of all evictions', async () => {
    const { batch, config } = await guarded();
    const directory = temporaryDirectory('/run');
    const hook = (name: string): string[] => {
      const program = join(directory, name);
      writeFileSync(program, `#!/bin/sh\necho "$EVICTD_POLICY $EVICTD_RESULT" > ${program}.out\n`, { mode: 0o755 });
      return [program];
    };
    const policies = config.policies.map((one) => ({ ...one, hooks: { postEvict: hook('own') } }));
    const evictd = await new Evictd({ config: { ...config, policies, hooks: { postEvict: hook('every') } } }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.until('a hook has ended', () => evictd.journal().some(({ type }) => type === 'hook'));
    expect(evictd.journal().flatMap(({ type, target, result }) => (type === 'hook' ? [[target, result]] : []))).toEqual([
      [join(directory, 'own'), 'succeeded'],
    ]);
    expect(readFileSync(join(directory, 'own.out'), 'utf8')).toBe('bounded killed\n');
  });

  test('in a dry run says what it would do, once, and ends nothing', async () => {
    const { batch, config } = await guarded();
    const evictd = await new Evictd({ config, args: ['--dry-run'] }).guarding();
    batch.grow();
    await evictd.until('the ladder has ended', () => brief(evictd.journal()).some((line) => line.startsWith('end')));
    await aWhile();
    expect(batch.alive).toBe(true);
    expect(brief(evictd.journal())).toEqual(['act notify', 'would evict batch', 'result kill dry-run', 'end exhausted']);
    expect(await evictd.metric('evictd_policy_actions_total{policy="bounded",action="kill",result="dry-run"}')).toBe(1);
  });
});

test.runIf(loopWorks())(
  `conditions of policies over the filesystem of images and allocatable memory have their values (${ON})`,
  async () => {
    const node = testNode();
    await workload(node.child('web'), { holdsMib: 60 });
    const imagefs = disk(64, 4_000);
    const { files } = statfsSync(imagefs);
    const bounds: readonly (readonly [metric: string, above: string, notAbove: string])[] = [
      ['imagefs.available', '16Mi', '64Mi'],
      ['imagefs.inodesFree', '1000', String(files)],
      ['containerfs.available', '16Mi', '64Mi'],
      ['containerfs.inodesFree', '1000', String(files)],
      ['allocatableMemory.available', '30Mi', '70Mi'],
    ];
    const evictd = await new Evictd({
      config: {
        ...guarding(node),
        evictionHard: { 'memory.available': '1Mi' },
        filesystems: { nodefs: '/', imagefs },
        allocatable: { cgroup: node.path, capacity: '128Mi' },
        policies: bounds.map(([metric, above, notAbove], index) => ({
          name: `p${String(index)}`,
          when: `${metric} > ${above} & !(${metric} > ${notAbove})`,
          then: ['notify'],
        })),
      },
    }).guarding();
    const held = (): unknown[] =>
      evictd.journal().flatMap(({ type, event, policy }) => (type === 'policy' && event === 'act' ? [policy] : []));
    await evictd.until('each holds', () => new Set(held()).size === bounds.length);
  },
);
