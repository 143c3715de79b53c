import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { addonFile, after, hasMemoryV1, pause, until } from './kernel.js';
import { kindOf, storms, type Storm } from './storms.js';

/** Where each kill takes a second because the machine is emulated, five are no storm. */
const SLOWER = SLOWNESS;
const STORM_MS = 5000 * SLOWER;
/** Longer than a PSI window: all events of the storm have been delivered. */
const QUIET_MS = 2500 * Math.max(1, SLOWER / 2);
/** Of each kind: fewer are no storm. */
const EVENTS = 10;

type Counts = Readonly<Record<string, number>>;

/**
 * A process with one of each watch. It says 'ready' when they stand, and 'enough' when each kind was called as often as
 * makes a storm; `waits`: what it does when it is ready, until it gets a line and says how often each was called.
 */
async function startWatching(watches: Readonly<Record<string, Pick<Storm, 'watch'>>>, waits: string) {
  const script = `
    const native = require(${JSON.stringify(addonFile)});
    const fs = require('node:fs');
    const wakes = {};
    let standing = 0;
    const missing = new Map(${JSON.stringify([...new Set(Object.keys(watches).map(kindOf))].map((kind) => [kind, EVENTS]))});
    const miss = (kind) => {
      const left = missing.get(kind) - 1;
      if (left > 0) missing.set(kind, left);
      else if (missing.delete(kind) && missing.size === 0) console.log('enough');
    };
    // A v1 threshold says that it stands: that is no event of the storm.
    const on = (name) => (bits, atNs, detail) => {
      if (name === 'MemcgThreshold' && standing++ === 0) return ready();
      wakes[name] = (wakes[name] ?? 0) + 1;
      miss(name.replace(/ \\d+$/, ''));
    };
    const watches = [${Object.values(watches)
      .map(({ watch }) => watch)
      .join(', ')}];
    const tell = () => { console.log(JSON.stringify(wakes)); process.exit(0); };
    const ready = () => {
      console.log('ready');
      ${waits}
    };
    ${hasMemoryV1 ? '' : 'ready();'}`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  after(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await until('all watches stand', () => said.includes('ready'));
  const counts = async (): Promise<Counts> => {
    const exit = once(child, 'exit');
    child.stdin.end('\n');
    await exit;
    return JSON.parse(said.trimEnd().split('\n').at(-1) ?? '') as Counts;
  };
  return { pid: child.pid ?? 0, counts, isEnough: () => said.includes('enough') };
}

test(
  'while events of every kind storm, each watch calls blocked JavaScript once or twice, and no memory is allocated',
  async () => {
    const ends: (() => void)[] = [];
    const all = storms(ends);
    const blocked = await startWatching(all, 'fs.readSync(0, Buffer.alloc(1)); setTimeout(tell, 200);');
    // The same watches where nothing is blocked: how much of a storm it was.
    const witness = await startWatching(all, "process.stdin.once('data', tell);");

    const residentKib = () => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${String(blocked.pid)}/status`, 'utf8'))?.[1]);
    const quiet = residentKib();
    for (const { start } of Object.values(all)) await start();
    await pause(STORM_MS);
    await until('it to be a storm', witness.isEnough, 45_000); // on a busy machine that takes longer
    for (const end of ends) end();
    await pause(QUIET_MS);
    const grownKib = residentKib() - quiet;

    const seen: Record<string, number> = {};
    for (const [name, count] of Object.entries(await witness.counts())) seen[kindOf(name)] = (seen[kindOf(name)] ?? 0) + count;
    const kinds = [...new Set(Object.keys(all).map(kindOf))];
    expect(
      kinds.filter((kind) => !((seen[kind] ?? 0) >= EVENTS)),
      `of ${JSON.stringify(seen)}`,
    ).toEqual([]);
    const counts = await blocked.counts();
    expect(Object.keys(counts).sort()).toEqual(Object.keys(all).sort());
    // Twice: on a busy machine its thread was still at the end of the storm when JavaScript went on.
    expect(Object.entries(counts).filter(([, times]) => times > 2)).toEqual([]);
    // The tree keeps 16,384 changes at most, the kernel log 256 kills; the address sanitizer keeps what was freed.
    if (process.env.LD_PRELOAD?.includes('asan') !== true) expect(grownKib).toBeLessThan(6 << 10);
  },
  120_000 * SLOWER,
);
