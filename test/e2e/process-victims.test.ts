import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evictd as command, Evictd, type JournalLine } from './evictd.js';
import { guarding, MIB, ON, testNode, workload, type WorkloadPlan } from './node.js';
import { aWhile } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

/** A session with three processes, and a policy that ends one process of it above 130 MiB. */
async function session(step: object, leaking: WorkloadPlan = {}) {
  const node = testNode();
  const slice = node.child('slice');
  const scope = slice.child('session');
  const [shell, editor, leak] = [
    await workload(scope, { holdsMib: 5 }),
    await workload(scope, { holdsMib: 40 }),
    await workload(scope, { holdsMib: 20, growsMib: 90, ...leaking }),
  ];
  const outside = await workload(slice.child('outside'), { holdsMib: 1 });
  const config = {
    ...guarding(node),
    evictionHard: { 'memory.available': '1Mi' },
    workloads: [{ cgroup: slice.path }],
    policies: [{ name: 'desktop', scope: { cgroup: slice.path }, when: 'memory.current > 130Mi', for: '1s', then: [step] }],
  };
  return { scope, shell, editor, leak, outside, config };
}

const ended = (lines: readonly JournalLine[]) => lines.filter(({ type, event }) => type === 'policy' && event === 'end').length > 0;

describe(`one process of a session (${ON})`, () => {
  test('that leaks is killed and its session continues; journal, history and a replay name the process', async () => {
    const { scope, shell, editor, leak, outside, config } = await session({ kill: { by: ['size'], unit: 'process' } });
    const directory = temporaryDirectory('/dev/shm');
    const recording = join(directory, 'recording');
    const evictd = await new Evictd({ config, args: ['--record', recording] }).guarding();
    leak.grow();
    expect(await leak.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    await evictd.until('the ladder has ended', () => ended(evictd.journal()));
    await aWhile(); // a second victim would be a defect
    expect([shell.alive, editor.alive, outside.alive]).toEqual([true, true, true]);

    const decisions = evictd.journal().filter(({ type }) => type === 'decision');
    expect(decisions).toMatchObject([
      { signal: 'policy', action: 'SIGKILL', victim: { name: 'session', path: scope.path, process: { pid: leak.pid, command: 'perl' } } },
    ]);
    expect(decisions[0]?.message).toContain(`evicting perl (${String(leak.pid)}) of session with SIGKILL: policy desktop on`);
    const outcome = evictd.journal().find(({ type }) => type === 'outcome');
    expect(outcome).toMatchObject({ result: 'killed', victim: { process: { pid: leak.pid } } });
    expect(Number(outcome?.freedBytes)).toBeGreaterThan(100 * MIB);
    expect(Number(outcome?.expectedBytes)).toBeGreaterThan(100 * MIB);
    expect(evictd.journal().find(({ event, action }) => event === 'result' && action === 'kill')).toMatchObject({
      result: 'done',
      target: { name: 'session', process: { pid: leak.pid, command: 'perl' } },
    });
    expect(await evictd.metric('evictd_policy_actions_total{policy="desktop",action="kill",result="done"}')).toBe(1);
    expect(await evictd.metric('evictd_evictions_total{eviction_signal="policy"}')).toBe(1);
    expect(await evictd.metric('evictd_eviction_budget_remaining{resource="memory"}')).toBe(4);

    expect(await evictd.stop()).toBe(0);
    const { stdout } = await command('replay', recording, '--output', 'json');
    const [run] = (JSON.parse(stdout) as { runs: readonly { records: readonly JournalLine[]; deviations: readonly string[] }[] }).runs;
    expect(run?.deviations).toEqual([]);
    expect(run?.records.filter(({ type }) => type === 'decision')).toMatchObject([{ victim: { process: { pid: leak.pid } } }]);
    const history = await command('history', '--config', evictd.configFile);
    expect(history.stdout).toContain(`perl (${String(leak.pid)}) of session by SIGKILL`);
  });

  test('that ignores SIGTERM is ended by an evictd that starts after kill -9, and no other process is', async () => {
    const step = { stop: { grace: '3s', by: ['oom_score'], unit: 'process' } };
    const { shell, editor, leak, config } = await session(step, { onTerm: 'ignore' });
    const evictd = await new Evictd({ config }).guarding();
    leak.grow();
    await evictd.recorded('decision');
    await evictd.stop('SIGKILL');
    expect(leak.alive).toBe(true);
    const next = new Evictd({ config, directory: evictd.directory });
    expect(await leak.ended).toBe('SIGKILL');
    expect(await next.recorded('outcome')).toMatchObject({ result: 'killed', victim: { process: { pid: leak.pid } } });
    expect([shell.alive, editor.alive]).toEqual([true, true]);
  });

  test('is named in a dry run, and not ended', async () => {
    const { leak, config } = await session({ kill: { by: ['size'], unit: 'process' } });
    const evictd = await new Evictd({ config, args: ['--dry-run'] }).guarding();
    leak.grow();
    await evictd.until('the ladder has ended', () => ended(evictd.journal()));
    expect(evictd.journal().find(({ type }) => type === 'decision')).toMatchObject({
      dryRun: true,
      victim: { process: { pid: leak.pid } },
    });
    expect(leak.alive).toBe(true);
  });
});
