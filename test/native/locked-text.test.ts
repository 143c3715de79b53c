import { describe, expect, test } from 'vitest';
import { execFile } from 'node:child_process';
import { addonFile, runNode } from './kernel.js';

const PRELUDE = String.raw`
  const field = (name) => Number(new RegExp('^' + name + ':[^0-9]*([0-9]+) kB', 'm').exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
  /** The first lines of the mappings with the flag of locked memory. */
  const locked = () =>
    fs.readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
      .filter((text) => /^VmFlags:.* lo /m.test(text)).map((text) => text.split('\n')[0]);
`;

const run = async (script: string) => {
  const { status, output } = await runNode(PRELUDE + script, 60_000);
  if (status !== 0) throw new Error(`${String(status)}: ${output}`);
  return JSON.parse(output) as Record<string, unknown>;
};

describe('locked machine code', () => {
  test('is that of Node, the addon and the libraries, without writable parts and anonymous memory', async () => {
    const seen = await run(`
      const before = field('VmLck');
      const result = native.lockText();
      console.log(JSON.stringify({ result, before, after: field('VmLck'), mappings: locked() }));
    `);
    const { result, before, after, mappings } = seen as {
      result: { bytes: number; errno: number };
      before: number;
      after: number;
      mappings: string[];
    };
    expect(result.errno).toBe(0);
    expect(before).toBe(0);
    expect(after * 1024).toBeGreaterThan(10 << 20); // Node's own
    expect(after * 1024).toBeLessThanOrEqual(result.bytes);
    for (const mapping of mappings) expect(mapping).toMatch(/^\S+ r-xp \S+ \S+ [1-9]\d* +\//);
    const files = mappings.map((mapping) => mapping.replace(/^.* \//, '/'));
    expect(files).toContain(addonFile);
    expect(files.some((file) => file === process.execPath || file.endsWith('/node'))).toBe(true);
    expect(files.some((file) => /libc\.so|ld-musl/.test(file))).toBe(true);
  });

  test('uses no memory that was not used before', async () => {
    const { before, after } = await run(`
      field('VmRSS');
      const before = field('VmRSS');
      native.lockText();
      console.log(JSON.stringify({ before, after: field('VmRSS') }));
    `);
    expect(Number(after)).toBeLessThan(Number(before) + 1024);
  });

  test('gives back what was freed before', async () => {
    const { before, after } = await run(`
      const few = () => Array.from({ length: 300 }, () => Buffer.alloc(100_000, 1)).filter((_, i) => i % 20 === 0);
      const kept = few(); // of 29 MiB
      gc();
      gc();
      setTimeout(() => {
        const before = field('RssAnon');
        native.lockText();
        console.log(JSON.stringify({ before, after: field('RssAnon'), kept: kept.length }));
      }, 100);
    `);
    expect(Number(before) - Number(after)).toBeGreaterThan(20 << 10);
  });

  test('does not disturb V8: heap, code and workers are created and deleted, and the process ends', async () => {
    const { rounds } = await run(`
      native.lockText();
      const { Worker } = require('node:worker_threads');
      (async () => {
        let rounds = 0;
        for (; rounds < 8; rounds++) {
          let held = [];
          for (let i = 0; i < 200; i++) held.push(new Array(10_000).fill(i), Buffer.alloc(100_000, i), 'x'.repeat(1000) + i);
          const code = Array.from({ length: 300 }, (_, i) => new Function('a', 'let s = 0; for (let i = 0; i < 3000; i++) s += a * ' + i + '; return s'));
          for (const run of code) { run(1); run(2); }
          held = undefined;
          gc();
          await new Promise((done, failed) => new Worker('let a = []; for (let i = 0; i < 2e5; i++) a.push({ i });', { eval: true }).on('exit', done).on('error', failed));
        }
        console.log(JSON.stringify({ rounds }));
      })();
    `);
    expect(rounds).toBe(8);
  });

  test('with a limit below it is locked as far as possible, and the reason is reported', async () => {
    // The right is dropped, the limit stays: 64 KiB is what most systems gave before Linux 5.16.
    const script = `
      const native = require(${JSON.stringify(addonFile)});
      console.log(JSON.stringify(native.lockText()));`;
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((done) => {
      const command = [
        '--bounding-set',
        '-ipc_lock',
        '--inh-caps',
        '-ipc_lock',
        'prlimit',
        '--memlock=2097152:2097152',
        process.execPath,
        '-e',
        script,
      ];
      execFile('setpriv', command, (_error, out, err) => {
        done({ stdout: out, stderr: err });
      });
    });
    expect(stderr).toBe('');
    const { bytes, errno } = JSON.parse(stdout) as { bytes: number; errno: number };
    expect(errno).toBe(12); // ENOMEM
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(2 << 20);
  });
});
