import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLASSES, everything } from './everything.js';
import { cgroup2, hasCgroup2, hasMemoryV1, makeCgroup, makeDirectory, makeNumberFile, memoryV1, runNode } from './kernel.js';

/**
 * Takes all descriptors but some, which are given back; `free()` gives all back. A low limit, so that it is soon
 * reached.
 */
const SHORTAGE = `
  const wake = () => {};
  const taken = [];
  const count = () => fs.readdirSync('/proc/self/fd').length;
  const take = (butSome) => {
    try { for (;;) taken.push(fs.openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    for (const fd of taken.splice(0, butSome)) fs.closeSync(fd);
  };
  const free = () => { for (const fd of taken.splice(0)) fs.closeSync(fd); };
  const until = async (condition) => { while (!condition()) await new Promise((later) => setTimeout(later, 5)); };
  const { execFileSync } = require('node:child_process');
  execFileSync('prlimit', ['--nofile=128:', '--pid', String(process.pid)]);
  const emfile = require('node:os').constants.errno.EMFILE;`;

/** Runs a script with that, and what it returned. */
async function inShortage<T>(script: string): Promise<T> {
  const { status, output } = await runNode(
    `${SHORTAGE}
    const alive = setInterval(() => {}, 1000); // requests do not keep the process
    (async () => { ${script} })().then((result) => { console.log(JSON.stringify(result)); clearInterval(alive); });`,
    60_000,
  );
  expect(status, output).toBe(0);
  return JSON.parse(output.split('\n', 1)[0] ?? '') as T; // a sanitizer may warn of the stack of a child behind it
}

describe('a process without a free descriptor', () => {
  // Constructors that need no descriptor report the shortage later.
  const needsNone = ['ChildProgram', 'DeletedFiles', 'DirectoryUsage', 'FileReader', 'FileStatuses', 'FilesystemStats', 'FilesystemTree'];
  // Adding to a table works without (cgroup-table), a reaper has none but those that it is given, and a lock's thread
  // has a table of descriptors of its own.
  const constructors = CLASSES.filter((name) => !['CgroupTable', 'FileLock', 'MemoryReaper'].includes(name));

  test.each(constructors)(
    'gets EMFILE from the constructor of %s at any point, without a leak, and an object with descriptors (where this machine has it)',
    async (name) => {
      const each = everything()[name] ?? [];
      for (const expression of each) {
        const { codes, leaked, worked } = await inShortage<{ codes: string[]; leaked: number[]; worked: boolean }>(`
          const open = () => ${expression};
          const [codes, leaked] = [[], []];
          // Of the first watch of a process, which starts the waiter and the armer, too.
          for (let some = 0; some < 12 && codes.at(-1) !== 'made'; some++) {
            take(some);
            const missing = taken.length;
            let code = 'made';
            try { open().close(); } catch (error) { ({ code } = error); }
            codes.push(code);
            const left = [];
            try { for (;;) left.push(fs.openSync('/dev/null')); } catch {}
            if (code !== 'made') leaked.push(some - left.length);
            for (const fd of left) fs.closeSync(fd);
            free();
          }
          const last = open();
          const worked = last.live ?? true;
          last.close();
          await until(() => native.watchCount() === 0);
          return { codes, leaked, worked };`);
        expect(worked, expression).toBe(true);
        expect(codes.at(-1), expression).toBe('made');
        expect([...new Set(codes.slice(0, -1))], expression).toEqual(needsNone.includes(name) ? [] : ['EMFILE']);
        // The waiter's two descriptors may stay for later watches.
        for (const count of leaked) expect([0, 2], `${expression}: ${leaked.join()}`).toContain(count);
      }
    },
  );

  test('gets EMFILE for a file, a filesystem and a directory, and reads them when descriptors are free', async () => {
    const directory = makeDirectory();
    mkdirSync(join(directory, 'below'));
    const result = await inShortage<unknown>(`
      const reader = new native.FileReader([{ path: '/proc/evictd-test-none', format: 'number' }, { path: '/proc/loadavg', format: 'loadavg' }]);
      const stats = new native.FilesystemStats('/');
      const answer = () => new Promise((done) => stats.request(done)).then(() => stats.read().errno);
      const usage = () => new Promise((done) => new native.DirectoryUsage(${JSON.stringify(directory)}, done)).then(({ errno, complete, inodes }) => [errno, complete, inodes]);
      take(0);
      reader.read();
      const errors = [...reader.errors];
      const short = [await answer(), await usage()];
      free();
      const enough = [await answer(), await usage()];
      reader.close();
      stats.close();
      return { errors: [errors[0] === emfile, errors[1]], short: [short[0] === emfile, short[1][0] === emfile, short[1][1]], enough };`);
    expect(result).toEqual({ errors: [true, 0], short: [true, true, false], enough: [0, [0, true, 2]] });
  });

  const cgroup = (): string => makeCgroup(hasMemoryV1 ? memoryV1 : cgroup2);

  test('gets events and removals of open watches', async () => {
    const [root, number] = [cgroup(), makeNumberFile(1)];
    const events = hasCgroup2 ? makeCgroup(cgroup2) : undefined;
    const result = await inShortage<Record<string, number>>(`
      const seen = {};
      const on = (name) => (bits) => { seen[name] = (seen[name] ?? 0) | bits; };
      const child = require('node:child_process').spawn('sleep', ['600'], { stdio: 'ignore' });
      const number = fs.openSync(${JSON.stringify(number.path)}, 'r+');
      const events = ${JSON.stringify(events ?? null)};
      const watches = [
        new native.Sampler({ files: [{ path: ${JSON.stringify(number.path)}, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [5] }, on('sampler')),
        new native.CgroupTree(${JSON.stringify(root)}, on('tree')),
        new native.ProcessExit([child.pid], on('exit')),
        ...(events ? [new native.MemcgEvents(events, 'cgroup.events', on('events'))] : []),
      ];
      take(0);
      fs.writeSync(number, String(9).padStart(16, '0'), 0);
      child.kill('SIGKILL');
      fs.mkdirSync(${JSON.stringify(join(root, 'below'))});
      if (events) fs.rmdirSync(events);
      await until(() => Object.keys(seen).length === watches.length);
      free();
      for (const watch of watches) watch.close();
      return seen;`);
    expect(result).toMatchObject({ sampler: 1, tree: 1 });
    expect(Number(result.exit) & 2).toBe(2);
    expect(result.events).toBe(hasCgroup2 ? 2 : undefined);
    rmdirSync(join(root, 'below'));
  });

  test('follows a tree and its new cgroups', async () => {
    const root = cgroup();
    const result = await inShortage<unknown>(`
      const root = ${JSON.stringify(root)};
      const tree = new native.CgroupTree(root);
      take(0);
      fs.mkdirSync(root + '/below');
      const followed = tree.changes().list.map(({ path }) => tree.follow(path));
      fs.mkdirSync(root + '/below/more');
      const { list } = tree.changes();
      free();
      return { followed, list };`);
    expect(result).toEqual({ followed: [true], list: [{ path: 'below/more', kind: 'appeared' }] });
  });
});
