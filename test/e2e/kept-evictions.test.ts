import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { errnoName } from '../../src/errors.js';
import { Evictd, evictd as command } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

test(`an eviction stays in the history when other records have pushed it out of the journal (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const config = { ...guarding(node), journal: { maxSize: '64Ki', maxFiles: 2 } };
  const evictd = await new Evictd({ config }).guarding();
  batch.grow();
  await evictd.recorded('outcome');

  // Refused reloads: each record has all errors. The journal holds 128 KiB.
  evictd.configure({ ...config, ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`nonsense${String(index)}`, 1])) });
  for (let reload = 0; reload < 40; reload += 1) {
    const before = evictd.log.length;
    evictd.child.kill('SIGHUP');
    await evictd.until('the reload is refused', () => evictd.log.length > before);
  }
  const files = (set: string): string => {
    const directory = dirname(evictd.journalFile);
    for (;;) {
      try {
        const names = readdirSync(directory).filter((name) => name.startsWith(set));
        return names.map((name) => readFileSync(join(directory, name), 'utf8')).join('');
      } catch (error) {
        if (errnoName(error) !== 'ENOENT') throw error; // a file was renamed between the two calls
      }
    }
  };
  await evictd.until('the eviction is pushed out', () => !files('journal.jsonl').includes('"type":"outcome"'));
  expect(files('evictions.jsonl')).toContain('"type":"outcome"');

  evictd.configure(config);
  const history = await command('history', '--config', evictd.configFile, '-o', 'json', '--type', 'eviction');
  expect(history.stderr).toBe('');
  expect(JSON.parse(history.stdout)).toMatchObject([{ result: 'killed', victim: { name: 'batch' }, decision: { decision: 1 } }]);
  expect(await evictd.stop()).toBe(0);
});

test(`an eviction that was in flight when the machine went down is lost, and the history says so (${ON})`, async () => {
  const node = testNode();
  const evictd = new Evictd({ config: guarding(node) });
  const earlier = (type: string, fields: object): string =>
    `${JSON.stringify({ time: '2026-11-21T08:00:00.000Z', type, node: node.path, dryRun: false, ...fields })}\n`;
  const victim = { name: 'batch', path: '/batch', id: '/batch#1' };
  const lines = earlier('start', { bootId: 'another' }) + earlier('decision', { decision: 1, signal: 'memory.available', victim });
  mkdirSync(dirname(evictd.journalFile), { recursive: true });
  writeFileSync(join(dirname(evictd.journalFile), 'evictions.jsonl'), lines);
  await evictd.guarding();
  expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'lost', victim });
  const history = await command('history', '--config', evictd.configFile, '-o', 'json', '--type', 'eviction');
  expect(JSON.parse(history.stdout)).toMatchObject([{ result: 'lost', victim: { name: 'batch' } }]);
  expect(await evictd.stop()).toBe(0);
});
