import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Evictd, evictd, victimOf } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

/** Names that a delegated cgroup may give its children, and how evictd shows them. */
const NAMES = [
  ['a byte that is not UTF-8', 'leak\udcff', 'leak\\xff'],
  ['a terminal escape', 'x\u001b[31mred', 'x\\x1b[31mred'],
  ['a tab and text that runs backwards', 'a\tb\u202ec', 'a\\x09b\\u202ec'],
  ['line separators, a carriage return, a space', 'a\u2028b\rc d', 'a\\u2028b\\x0dc d'],
] as const;

/** What no output may hold, but for the line feeds that end its lines. */
// oxlint-disable-next-line no-control-regex
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e\ufffd]/;

test.each(NAMES)(`${ON}: a workload with %s is evicted, and shown with escapes`, async (_rule, name, shown) => {
  const node = testNode();
  const small = await workload(node.child('small'), { holdsMib: 5 });
  const odd = await workload(node.child(name), { growsMib: 140 });
  const others = { match: { name: 'small' }, critical: true };
  const guard = await new Evictd({ config: guarding(node, [others, { match: { name: shown }, priority: -7 }]) }).guarding();

  odd.grow();
  expect(await odd.ended).toBe('SIGKILL');
  const outcome = await guard.recorded('outcome');
  expect(small.alive).toBe(true);
  expect(victimOf(outcome)).toBe(JSON.parse(JSON.stringify(name).replace('\\udcff', '\\\\xff')));
  const [decision] = guard.journal().filter(({ type }) => type === 'decision');
  expect((decision?.ranking as { name: string; priority: number }[]).find(({ name: ranked }) => ranked !== 'small')?.priority).toBe(-7);

  const history = await evictd('history', '--config', guard.configFile);
  expect(history.stdout).toContain(`evicted      ${shown} by SIGKILL`);
  const events = await evictd('history', '--config', guard.configFile, '-o', 'json');
  expect(await guard.metrics()).not.toMatch(RAW);
  expect(await guard.stop()).toBe(0);
  for (const text of [history.stdout, events.stdout, readFileSync(guard.journalFile, 'utf8')]) {
    expect(text).not.toMatch(/\ufffd|(?<!\\)(?:\\\\)*\\ud[c-f]/);
  }
  expect(guard.log.map(({ msg }) => msg).join()).toContain('evicting');
});

test(`${ON}: no command writes the raw bytes of a name`, async () => {
  const node = testNode();
  for (const [, name] of NAMES) await workload(node.child(name), { holdsMib: 3 });
  const guard = await new Evictd({
    config: { ...guarding(node), shutdownGracePeriod: '30s' },
    args: ['--dry-run'],
  }).guarding();
  const file = ['--config', guard.configFile];
  const outputs = await Promise.all(
    [
      ['rank', ...file],
      ['rank', ...file, '-o', 'json'],
      ['rank', ...file, '--kernel'],
      ['rank', ...file, '--kernel', '-o', 'json'],
      ['shutdown', '--plan', ...file],
      ['shutdown', '--plan', ...file, '-o', 'json'],
      ['doctor', ...file],
      ['check', ...file, '--node-cgroup', `${node.path}/${NAMES[1][1]}`],
      ['check', ...file, '--node-cgroup', `${node.path}/${NAMES[1][1]}`, '-o', 'nagios'],
      ['check', ...file, '--node-cgroup', `${node.path}/${NAMES[1][1]}`, '-o', 'prometheus'],
      ['check', ...file, '--node-cgroup', '/no\u001bsuch'],
      ['config', 'show', ...file, '--workload-cgroup', '/a\u001b[31mb'],
    ].map(async (args) => ({ args: args.join(' '), ...(await evictd(...args)) })),
  );
  for (const { args, stdout, stderr } of outputs) expect([args, RAW.exec(stdout + stderr)?.[0]]).toEqual([args, undefined]);
  const [text, json, kernel] = outputs;
  for (const [, , shown] of NAMES) {
    expect(text?.stdout).toContain(shown);
    expect(kernel?.stdout).toContain(shown);
  }
  const ranked = JSON.parse(json?.stdout ?? '') as { workloads: { name: string }[] };
  expect(ranked.workloads.map(({ name }) => name).sort()).toEqual(['leak\\xff', ...NAMES.slice(1).map(([, name]) => name)].sort());
});
