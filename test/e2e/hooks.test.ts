import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, victimOf, type JournalLine } from './evictd.js';
import { guarding, ON, testNode, workload, type Workload } from './node.js';

// Real hooks and real evictions. Hooks lie below /run: only root can change it.

interface Place {
  readonly directory: string;
  /** Writes a hook; `$OUT` is a file of its own, which `read` reads. */
  readonly hook: (name: string, script: string) => string;
  readonly read: (name: string) => string | undefined;
}

function place(): Place {
  const directory = temporaryDirectory('/run');
  const out = (name: string): string => join(directory, `${name}.out`);
  return {
    directory,
    hook: (name, script) => {
      const path = join(directory, name);
      writeFileSync(path, `#!/bin/sh\nOUT=${out(name)}\n${script}\n`, { mode: 0o755 });
      return path;
    },
    read: (name) => (existsSync(out(name)) ? readFileSync(out(name), 'utf8') : undefined),
  };
}

/** An evictd with these hooks, and a victim that makes memory short when it grows. */
async function scene(
  hooks: Readonly<Record<string, unknown>>,
  plan: Parameters<typeof workload>[1] = { growsMib: 200 },
  args: readonly string[] = [],
): Promise<{ evictd: Evictd; victim: Workload; cgroup: string }> {
  const node = testNode();
  const victim = await workload(node.child('batch'), plan);
  const evictd = await new Evictd({ config: { ...guarding(node), hooks }, args }).guarding();
  return { evictd, victim, cgroup: `${node.path}/batch` };
}

const hookRecords = (evictd: Evictd): JournalLine[] => evictd.journal().filter(({ type }) => type === 'hook');

/** Where a hook ends in time: a busy machine may not start it within its deadline. */
const SOON = ['succeeded', 'late'];

/** Writes its environment. */
const NOTES = 'env > "$OUT.part"; mv "$OUT.part" "$OUT"';

describe(`hooks (${ON})`, () => {
  test('run in order: the record, preEvict, the signal, postEvict', async () => {
    const { hook, read } = place();
    // Slower than an eviction, so that the records would have another order if it did not wait.
    const pre = hook('pre', `${NOTES}\nsleep 0.2`);
    const post = hook('post', `export ARG="$1"\n${NOTES}`);
    const { evictd, victim, cgroup } = await scene({ preEvict: { command: [pre], deadline: '500ms' }, postEvict: [post, '$HOME'] });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.until('both have run', () => read('pre') !== undefined && read('post') !== undefined);

    expect(read('pre')).not.toContain('EVICTD_RESULT');
    for (const line of ['EVICTD_HOOK=preEvict', 'EVICTD_DECISION=1', 'EVICTD_VICTIM=batch', 'EVICTD_SIGNAL=memory.available'])
      expect(read('pre')).toContain(`${line}\n`);
    expect(read('pre')).toContain(`EVICTD_VICTIM_CGROUP=${cgroup}\n`);
    expect(read('pre')).toMatch(/^EVICTD_REASON=evicting batch with SIGKILL: memory\.available /m);
    expect(read('post')).toMatch(/^EVICTD_RESULT=killed$/m);
    expect(read('post')).toContain('ARG=$HOME\n');
    const [, freed] = /^EVICTD_FREED_BYTES=(\d+)$/m.exec(read('post') ?? '') ?? [];
    expect(Number(freed)).toBe((await evictd.recorded('outcome')).freedBytes);

    await evictd.until('both are recorded', () => hookRecords(evictd).length === 2);
    const order = evictd
      .journal()
      .flatMap(({ type, hook: name }) => (['decision', 'hook', 'outcome'].includes(type) ? [name ?? type] : []));
    expect(order).toEqual(['decision', 'preEvict', 'outcome', 'postEvict']);
    const [first, second] = hookRecords(evictd).map(({ result }) => String(result));
    expect([SOON, second]).toEqual([expect.arrayContaining([first]), 'succeeded']);
    expect(await evictd.metric(`evictd_hook_runs_total{hook="preEvict",result="${first ?? ''}"}`)).toBe(1);
    expect(await evictd.metric('evictd_wake_to_signal_seconds_count')).toBe(1);
  });

  test('a preEvict that hangs delays the eviction to its deadline, and is ended at its timeout', async () => {
    const { hook, read } = place();
    const pre = hook('pre', 'echo $$ > "$OUT"; sleep 1000');
    // A busy machine may take more than a second to start it.
    const { evictd, victim } = await scene({ preEvict: { command: [pre], deadline: '100ms', timeout: '10s' } });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await evictd.logged(/was not over at its deadline/);
    expect(await evictd.recorded('hook')).toMatchObject({ hook: 'preEvict', result: 'late' });
    expect(await evictd.metric('evictd_hook_runs_total{hook="preEvict",result="late"}')).toBe(1);
    await evictd.until('the hook was started', () => read('pre')?.endsWith('\n') === true);
    await evictd.until('the hook is ended', () => !existsSync(`/proc/${String(Number(read('pre')))}`));
    expect(hookRecords(evictd)).toHaveLength(1);
  });

  test.each<[what: string, spoil: (there: Place, path: string) => void, why: RegExp]>([
    ['is missing', (_there, path) => rmSync(path), /pre is missing$/],
    ['is not executable', (_there, path) => chmodSync(path, 0o644), /is not an executable file/],
    ['is writable by all users', (_there, path) => chmodSync(path, 0o777), /pre is writable by all users/],
    [
      'is in a directory that all users may write to',
      ({ directory }) => chmodSync(directory, 0o777),
      /evictd-test-\w+ is writable by all users/,
    ],
  ])('in a program that %s do not run, and evictions go on', async (_what, spoil, why) => {
    const there = place();
    const pre = there.hook('pre', NOTES);
    spoil(there, pre);
    const { evictd, victim } = await scene({ preEvict: [pre] });
    await evictd.logged(/^hooks\.preEvict is skipped/);
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(there.read('pre')).toBeUndefined();
    expect(await evictd.recorded('hook')).toMatchObject({ result: 'refused', error: expect.stringMatching(why) as string });
    expect(await evictd.metric('evictd_hook_runs_total{hook="preEvict",result="refused"}')).toBe(1);
  });

  test('that fail are recorded with the exit code', async () => {
    const { hook } = place();
    const { evictd, victim } = await scene({ postEvict: [hook('post', 'exit 3')] });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.logged(/^hook postEvict .* for batch: it failed \(exit/);
    expect(await evictd.recorded('hook')).toMatchObject({ hook: 'postEvict', result: 'failed' });
  });

  test('do not run in a dry run, which records them', async () => {
    const { hook, read } = place();
    const hooks = { preEvict: [hook('pre', NOTES)], postEvict: [hook('post', NOTES)] };
    const { evictd, victim } = await scene(hooks, { growsMib: 200 }, ['--dry-run']);
    victim.grow();
    await evictd.recorded('hook');
    await evictd.until('both are recorded', () => hookRecords(evictd).length === 2);
    expect(hookRecords(evictd)).toMatchObject([
      { hook: 'preEvict', result: 'would-run', dryRun: true },
      { hook: 'postEvict', result: 'would-run', dryRun: true },
    ]);
    expect(victim.alive).toBe(true);
    expect([read('pre'), read('post')]).toEqual([undefined, undefined]);
  });
});

describe.runIf(await fuseWorks())(`a hook on a filesystem that hangs (${ON}, where FUSE can be mounted)`, () => {
  /** The script is opened by the check before it runs, then by exec. A check that takes long is postEvict's, too. */
  test.each<[when: string, open: number | undefined, after: readonly string[]]>([
    ['checked, by a server that takes no request', undefined, ['refused']],
    ['checked', 1, ['refused']],
    ['started', 2, ['refused', 'failed']],
  ])('delays an eviction to its deadline, and not the end of evictd, while it is %s', async (_when, open, after) => {
    const fuse = await mountFuse(mkdtempSync('/run/evictd-test-hooks-'));
    onTestFinished(() => fuse.remove());
    const pre = join(fuse.directory, 'pre');
    const { evictd, victim } = await scene({
      preEvict: { command: [pre], deadline: '100ms', timeout: '1s' },
      postEvict: { command: [pre], timeout: '1s' },
    });
    // It is missing at the start, so that the checks of the start can be seen to be over.
    await evictd.logged(/hooks\.postEvict is skipped/);
    writeFileSync(pre, '#!/bin/sh\n', { mode: 0o755 });
    if (open === undefined) await fuse.hang('untaken');
    else await fuse.hangAt('open', open);
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await evictd.until('both are recorded', () => hookRecords(evictd).length === 2);
    expect(hookRecords(evictd)).toMatchObject([
      { hook: 'preEvict', result: 'late' },
      { hook: 'postEvict', result: expect.toBeOneOf([...after]) as string },
    ]);
    expect((await evictd.get('/healthz'))?.status).toBe(200);
    if (open === undefined) {
      expect(await evictd.stop()).toBe(0);
      return;
    }
    await fuse.stuck();
    const port = await evictd.port();
    expect(await evictd.stop('SIGKILL')).toBe('SIGKILL');
    const runtimeDirectory = join(evictd.directory, 'run');
    const metrics = { listen: `127.0.0.1:${String(port)}` };
    const next = await new Evictd({ config: { ...guarding(testNode()), runtimeDirectory, metrics } }).guarding();
    expect(await next.stop()).toBe(0);
  });
});

const DIRECTORY = '/run/systemd/oomd.prekill.hook';

/** A hook as systemd-oomd calls it. `answer`: what it replies, undefined: nothing. */
async function prekillHook(answer: string | undefined): Promise<{ readonly path: string; readonly calls: string[] }> {
  const calls: string[] = [];
  const path = join(DIRECTORY, `evictd.test.${String(process.pid)}`);
  const made = mkdirSync(DIRECTORY, { recursive: true, mode: 0o755 });
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      calls.push(data.toString());
      if (answer !== undefined) socket.write(`${answer}\0`);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    rmSync(path, { force: true });
    if (made !== undefined) rmSync(made, { recursive: true });
  });
  return { path, calls };
}

describe(`hooks of systemd-oomd (${ON})`, () => {
  test.each<[what: string, answer: string | undefined, result: string]>([
    ['reply', '{"parameters":{}}', 'succeeded'],
    ['refuse', '{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"x"}}', 'failed'],
    ['do not reply', undefined, 'late'],
  ])('that %s are called with the cgroup, and the victim ends', async (_what, answer, result) => {
    const { calls, path } = await prekillHook(answer);
    // The deadline of preEvict holds for both.
    const { evictd, victim, cgroup } = await scene({ preEvict: { command: ['/bin/true'], deadline: '500ms' }, prekill: true });
    const records = (): JournalLine[] => hookRecords(evictd).filter(({ hook }) => hook === 'prekill');
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    expect(victimOf(await evictd.recorded('outcome'))).toBe('batch');
    await evictd.until('it is recorded', () => records().length === 1);
    const [record] = records();
    expect(record).toMatchObject({ hook: 'prekill', target: path });
    expect([result, 'late']).toContain(record?.result);
    // A busy machine may not come to the call before the deadline.
    if (record?.result === 'late' && calls.length === 0) return;
    expect(calls).toEqual([`{"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":${JSON.stringify(cgroup)}}}\0`]);
  });

  test('are not called without the key', async () => {
    const { calls } = await prekillHook('{"parameters":{}}');
    const { evictd, victim } = await scene({});
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(calls).toEqual([]);
  });
});
