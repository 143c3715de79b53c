import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addonFile, after, hasMemoryV1, pause, until } from './kernel.js';
import { storms } from './storms.js';

const STORM_MS = 3000;
/** Longer than a PSI window: what the storm had to tell has been told. */
const QUIET_MS = 2500;

test('JavaScript that is blocked while events of every kind storm is called once by each watch, and no memory is taken meanwhile', async () => {
  const ends: (() => void)[] = [];
  const all = storms(ends);
  const script = `
    const native = require(${JSON.stringify(addonFile)});
    const fs = require('node:fs');
    const wakes = {};
    let standing = 0;
    // A v1 threshold says that it stands: that is no event of the storm.
    const on = (name) => (bits, atNs, detail) => {
      if (name === 'MemcgThreshold' && standing++ === 0) return blocked();
      wakes[name] = (wakes[name] ?? 0) + 1;
    };
    const watches = [${Object.values(all)
      .map(({ watch }) => watch)
      .join(', ')}];
    const blocked = () => {
      console.log('blocked');
      fs.readSync(0, Buffer.alloc(1));
      setTimeout(() => { console.log(JSON.stringify(wakes)); process.exit(0); }, 200);
    };
    ${hasMemoryV1 ? '' : 'blocked();'}`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  after(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await until('it is blocked', () => said.includes('blocked'));

  const residentKib = () => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1]);
  const quiet = residentKib();
  for (const { start } of Object.values(all)) await start();
  await pause(STORM_MS);
  for (const end of ends) end();
  await pause(QUIET_MS);
  const grownKib = residentKib() - quiet;
  const exit = once(child, 'exit');
  child.stdin.end('\n');
  await exit;

  const wakes = JSON.parse(said.slice(said.indexOf('\n') + 1)) as Record<string, number>;
  expect(wakes).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, 1])));
  // The tree keeps 16,384 changes at most, the kernel log 256 kills; the address sanitizer keeps what was freed.
  if (process.env.LD_PRELOAD?.includes('asan') !== true) expect(grownKib).toBeLessThan(6 << 10);
});
