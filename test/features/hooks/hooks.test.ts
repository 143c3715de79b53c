import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { HooksConfig, HookSettings, PolicyHooks } from '../../../src/core/hook/hook.js';
import type { LimitedCommand } from '../../../src/core/systemd/limited-command.js';
import { Hooks } from '../../../src/features/hooks/open.js';
import type { ProgramEnd } from '../../../src/monitor/ports/ports.js';
import { eventually } from '../../support/eventually.js';
import { decision, onlyProcess, outcome } from '../notify/evictions.js';

// The end of a program is played here, to show what waits for it. test/e2e runs real ones.

const hook = { argv: ['/bin/hook', 'a'], timeoutNs: 1n };
const none: HooksConfig = { preEvict: undefined, postEvict: undefined, prekill: undefined };
const MINUTE = 60_000_000_000n;

function played(
  hooks: Partial<HooksConfig>,
  problem?: string,
  prekillDirectory = '/no/such/directory',
  policies: HookSettings['policies'] = [],
) {
  const ran: LimitedCommand[] = [];
  const ends: ((error: string | undefined) => void)[] = [];
  const said: string[] = [];
  const counted: string[] = [];
  const runner = {
    run: async (command: LimitedCommand): Promise<ProgramEnd> => {
      if (problem !== undefined) return { result: 'refused', error: problem };
      ran.push(command);
      const error = await new Promise<string | undefined>((resolve) => ends.push(resolve));
      return error === undefined ? { result: 'succeeded' } : { result: 'failed', error };
    },
    problemOf: () => Promise.resolve(problem),
    close: () => said.push('close'),
  };
  const host = { runner, prekillDirectory };
  const note = (line: string) => said.push(line);
  const parts = {
    ...{ node: 'machine', dryRun: false, host, log: { debug: note, info: note, warn: note } },
    journal: { record: () => undefined },
    metrics: { hookRan: (name: string, result: string) => counted.push(`${name} ${result}`) },
  };
  const all = new Hooks({ hooks: { ...none, ...hooks }, policies }, parts);
  let gone = 0;
  const before = (): boolean => all.before(decision(), () => (gone += 1));
  onTestFinished(() => {
    for (const end of ends) end(undefined);
  });
  return { all, before, ran, ends, said, counted, gone: () => gone };
}

const preEvict = { ...hook, deadlineNs: MINUTE };

test('a signal waits until preEvict has ended, whatever its result', async () => {
  for (const error of [undefined, 'it failed (exit code 3)']) {
    const { before, ends, gone, counted } = played({ preEvict });
    expect(before()).toBe(true);
    expect(gone()).toBe(0);
    ends[0]?.(error);
    await eventually('the signal is sent', () => gone() === 1);
    expect(counted).toEqual([error === undefined ? 'preEvict succeeded' : 'preEvict failed']);
  }
});

test('a signal waits no longer than the deadline, and the late hook is counted once', async () => {
  const { before, ends, gone, counted } = played({ preEvict: { ...hook, deadlineNs: 1_000_000n } });
  expect(before()).toBe(true);
  await eventually('the signal is sent', () => gone() === 1);
  expect(counted).toEqual(['preEvict late']);
  ends[0]?.(undefined);
  await Promise.resolve();
  expect([counted, gone()]).toEqual([['preEvict late'], 1]);
});

test.each<[what: string, hooks: Partial<HooksConfig>]>([
  ['no hook', {}],
  ['only postEvict', { postEvict: hook }],
])('with %s a signal does not wait', (_what, hooks) => {
  const { before, ran, gone } = played(hooks);
  expect([before(), ran, gone()]).toEqual([false, [], 0]);
});

test('without a socket of systemd-oomd a signal does not wait', async () => {
  const { before, gone } = played({ prekill: { deadlineNs: MINUTE } });
  expect(before()).toBe(true);
  await eventually('the signal is sent', () => gone() === 1);
});

test('a socket that is found after the deadline is not called, and is counted as late', async () => {
  const directory = mkdtempSync('/run/evictd-test-prekill-');
  chmodSync(directory, 0o755);
  const server = createServer(() => counted.push('called'));
  onTestFinished(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  await new Promise<void>((resolve) => server.listen(join(directory, 'hook'), resolve));
  const { before, gone, counted } = played({ prekill: { deadlineNs: 1n } }, undefined, directory);
  expect(before()).toBe(true);
  const untilNs = process.hrtime.bigint() + 5_000_000n;
  while (process.hrtime.bigint() < untilNs); // the timer of the deadline is the first event
  await eventually('it is counted', () => counted.length > 0);
  expect([counted, gone()]).toEqual([['prekill late'], 1]);
});

test('a program that other users can change is not run, and no signal waits for it', async () => {
  const { before, ran, said, counted, gone } = played({ preEvict }, '/bin/hook is writable by all users');
  await eventually('the warning', () => said.length === 1);
  expect(said).toEqual(['hooks.preEvict is skipped, and evictions go on without it: /bin/hook is writable by all users']);
  expect(before()).toBe(true);
  await eventually('the signal is sent', () => gone() === 1);
  expect([ran, counted]).toEqual([[], ['preEvict refused']]);
});

test('hooks that hang are limited in number', async () => {
  const { before, ran, ends, counted, gone } = played({ preEvict });
  for (let evictions = 0; evictions < 9; evictions += 1) before();
  await eventually('the ninth eviction does not wait', () => gone() === 1);
  expect([ran.length, counted]).toEqual([8, ['preEvict refused']]);
  ends[0]?.(undefined);
  await eventually('one has ended', () => counted.includes('preEvict succeeded'));
  before();
  expect(ran.length).toBe(9);
});

test('postEvict runs after the step, with the result', async () => {
  const { all, ran } = played({ postEvict: hook });
  all.stepped({ effects: [{ kind: 'outcome', outcome: outcome() }] } as unknown as Parameters<Hooks['stepped']>[0]);
  expect(ran).toEqual([]);
  await eventually('it runs', () => ran.length === 1);
  expect(ran[0]).toMatchObject({ purpose: 'hook', name: 'postEvict', argv: ['/bin/hook', 'a'] });
  expect(ran[0]?.environment).toMatchObject({ EVICTD_HOOK: 'postEvict', EVICTD_RESULT: 'killed', EVICTD_FREED_BYTES: '199229440' });
});

test('postEvict gets the process, where only one ends', async () => {
  const { all, ran } = played({ postEvict: hook });
  const whole = decision();
  const of = { ...whole, victim: onlyProcess(whole.victim) };
  all.stepped({ effects: [{ kind: 'outcome', outcome: outcome(of) }] } as unknown as Parameters<Hooks['stepped']>[0]);
  await eventually('it runs', () => ran.length === 1);
  expect(ran[0]?.environment).toMatchObject({ EVICTD_VICTIM: 'batch', EVICTD_VICTIM_PID: '4711', EVICTD_VICTIM_COMMAND: 'leak' });
});

test('postEvict gets the policy that has evicted', async () => {
  const { all, ran } = played({ postEvict: hook });
  const cause = { kind: 'policy', policy: 'p', scope: '/a', condition: 'swap.available < 10%', values: {}, graceNs: 0n } as const;
  all.stepped({ effects: [{ kind: 'outcome', outcome: outcome({ ...decision(), cause }) }] } as unknown as Parameters<Hooks['stepped']>[0]);
  await eventually('it runs', () => ran.length === 1);
  expect(ran[0]?.environment).toMatchObject({ EVICTD_POLICY: 'p', EVICTD_SCOPE: '/a', EVICTD_CONDITION: 'swap.available < 10%' });
});

const own = { argv: ['/bin/own'], timeoutNs: 1n };

test.each<[rule: string, own: PolicyHooks | undefined, policy: string | undefined, programs: readonly string[]]>([
  ['a policy with both', { preEvict: { ...own, deadlineNs: MINUTE }, postEvict: own }, 'p', ['/bin/own', '/bin/own']],
  ['a policy with one: the other is that of all evictions', { postEvict: own }, 'p', ['/bin/hook', '/bin/own']],
  ['a policy without any', undefined, 'p', ['/bin/hook', '/bin/hook']],
  ['another policy', { postEvict: own }, 'other', ['/bin/hook', '/bin/hook']],
  ['a threshold', { postEvict: own }, undefined, ['/bin/hook', '/bin/hook']],
])('the hooks of an eviction by %s', async (_rule, hooks, by, programs) => {
  const policies = [{ name: 'p', ...(hooks && { hooks }) }];
  const { all, ran } = played({ preEvict, postEvict: hook }, undefined, undefined, policies);
  const cause = { kind: 'policy', policy: by ?? '', scope: '/a', condition: 'swap.available < 10%', values: {}, graceNs: 0n } as const;
  const of = { ...decision(), ...(by !== undefined && { cause }) };
  all.before(of, () => undefined);
  all.stepped({ effects: [{ kind: 'outcome', outcome: outcome(of) }] } as unknown as Parameters<Hooks['stepped']>[0]);
  await eventually('both run', () => ran.length === 2);
  expect(ran.map(({ argv: [program] }) => program)).toEqual(programs);
});

test("a policy's program that will not be run is named by its key", async () => {
  const policies = [{ name: 'p' }, { name: 'q', hooks: { postEvict: own } }];
  const { said } = played({}, 'missing', undefined, policies);
  await eventually('the warning', () => said.length === 1);
  expect(said).toEqual(['policies[1].hooks.postEvict is skipped, and evictions go on without it: missing']);
});

test('a name with control characters is passed to hooks as printable text', async () => {
  const { all, ran } = played({ postEvict: hook });
  const of = decision({ name: 'a\nb\udcff', path: '/x/a\nb\udcff' });
  all.stepped({ effects: [{ kind: 'outcome', outcome: outcome(of) }] } as unknown as Parameters<Hooks['stepped']>[0]);
  await eventually('it runs', () => ran.length === 1);
  expect(ran[0]?.environment).toMatchObject({ EVICTD_VICTIM: 'a\\x0ab\\xff', EVICTD_VICTIM_CGROUP: '/x/a\\x0ab\\xff' });
});
