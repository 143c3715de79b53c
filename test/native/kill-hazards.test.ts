import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { SLOWNESS } from '../support/slowness.js';
import {
  addonFile,
  after,
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  isEmulated,
  makeCgroup,
  makeDirectory,
  members,
  memoryV1,
  pause,
  startIn,
  until,
} from './kernel.js';

const { SIGKILL } = constants.signals;

const hierarchies: [name: string, mount: string][] = [
  ...(hasMemoryV1 ? [['v1', memoryV1] as [string, string]] : []),
  ...(hasCgroup2 ? [['v2', cgroup2] as [string, string]] : []),
];

/** Whether pids can be given out by hand: in a pid namespace of our own. */
const canChoosePids = ((): boolean => {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', '/bin/sh', '-c', 'echo 100 > /proc/sys/kernel/ns_last_pid'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();

describe.each(hierarchies)('while a cgroup of %s is ended', (_name, mount) => {
  test('the cgroup is removed and created again under its name: a process that joins it lives', async () => {
    const cgroup = makeCgroup(mount);
    const below = join(cgroup, 'below');
    mkdirSync(below);
    await startIn(cgroup, 'for i in 1 2 3 4 5; do sleep 60 & done; exec sleep 60');
    await startIn(below, 'exec sleep 60');
    const held = closing(new native.CgroupHandle(cgroup));
    // Removes it the moment it can, makes it again and joins it.
    const script =
      'while [ -e "$0" ]; do rmdir "$0/below" "$0" 2>/dev/null; done; mkdir "$0" && echo $$ > "$0/cgroup.procs" && echo joined && exec sleep 60';
    const next = spawn('/bin/sh', ['-c', script, cgroup], { stdio: ['ignore', 'pipe', 'inherit'] });
    after(() => void next.kill('SIGKILL'));
    const said: unknown[] = [];
    next.stdout.on('data', (text) => said.push(text));
    const deadline = Date.now() + 30_000;
    for (let more = 100; more > 0 && Date.now() < deadline; more -= said.length > 0 ? 1 : 0) {
      held.stop(3);
      expect(held.signal(SIGKILL).errno).toBe(0);
      try {
        held.kill();
      } catch (error) {
        expect(['ENOENT', 'ENODEV']).toContain((error as NodeJS.ErrnoException).code);
      }
      held.thaw();
      await pause(1);
    }
    expect(held.processes()).toEqual([]);
    expect([next.exitCode, next.signalCode]).toEqual([null, null]);
    expect(members(cgroup)).toEqual([next.pid]);
  });

  test('cgroups below it are created and removed', async () => {
    const cgroup = makeCgroup(mount);
    const churn = spawn(
      '/bin/sh',
      ['-c', 'while :; do mkdir "$0/a" "$0/a/b" "$0/c"; rmdir "$0/a/b" "$0/a" "$0/c"; done 2>/dev/null', cgroup],
      { stdio: 'ignore' },
    );
    after(async () => {
      churn.kill('SIGKILL');
      if (churn.exitCode === null && churn.signalCode === null) await once(churn, 'exit');
    });
    await startIn(cgroup, 'for i in 1 2 3 4 5; do sleep 60 & done; wait');
    const held = closing(new native.CgroupHandle(cgroup));
    for (let round = 0; round < 300; round++) expect([held.signal(0).errno, held.stop(2).errno]).toEqual([0, 0]);
    held.signal(SIGKILL);
    await until('all ended', () => held.processes().length === 0);
  });
});

describe.runIf(canChoosePids)('a pid that is reused (in a separate pid namespace)', () => {
  const inNamespace = (script: string): Promise<string> =>
    new Promise((done) => {
      const prelude = `
        const native = require(${JSON.stringify(addonFile)});
        const fs = require('node:fs');
        BigInt.prototype.toJSON = () => undefined;
        const { spawn } = require('node:child_process');
        const { once } = require('node:events');
        const start = async (pid) => {
          fs.writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
          const child = spawn('sleep', ['60'], { stdio: 'ignore' });
          if (child.pid !== pid) throw new Error('pid ' + child.pid + ' instead of ' + pid);
          return child;
        };
        const end = async (child) => { const ended = once(child, 'exit'); child.kill('SIGKILL'); await ended; };
        const code = (use) => { try { use(); return 'done'; } catch (error) { return error.code; } };
        (async () => { ${script} })().catch((error) => { console.log(String(error)); process.exit(1); });`;
      execFile(
        'unshare',
        ['--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, '-e', prelude],
        { timeout: 30_000 * SLOWNESS, killSignal: 'SIGKILL' },
        (_error, stdout, stderr) => {
          done((stdout + stderr).trim());
        },
      );
    });

  test('a pidfd means the previous process, and affects no other', async () => {
    const output = await inNamespace(`
      const first = await start(5000);
      const pidfd = new native.Pidfd(5000);
      await end(first);
      const second = await start(5000);
      const codes = [code(() => pidfd.signal(9)), code(() => pidfd.release())];
      await new Promise((later) => setTimeout(later, 50));
      console.log(JSON.stringify([codes, second.pid, second.signalCode]));
      process.exit();
    `);
    expect(JSON.parse(output)).toEqual([['ESRCH', isEmulated ? 'ENOSYS' : 'ESRCH'], 5000, null]);
  });

  test.runIf(hasCgroup2)('the handle of a cgroup signals its members by their present pids', async () => {
    const cgroup = makeCgroup(cgroup2);
    const output = await inNamespace(`
      const cgroup = ${JSON.stringify(cgroup)};
      const held = new native.CgroupHandle(cgroup);
      const member = await start(5000);
      fs.writeFileSync(cgroup + '/cgroup.procs', '5000');
      const before = held.processes();
      await end(member);
      const bystander = await start(5000);
      const result = held.signal(9);
      await new Promise((later) => setTimeout(later, 50));
      console.log(JSON.stringify([before, result, bystander.signalCode]));
      process.exit();
    `);
    expect(JSON.parse(output)).toMatchObject([[5000], { found: 0, signalled: 0, errno: 0 }, null]);
  });

  // Between the first reading of cgroup.procs and the second, which opens when the pidfds of the first are open: a FIFO
  // shows when.
  test('a process that gets the pid while the pidfds are being opened lives', async () => {
    const directory = makeDirectory();
    const script = `
      set -e
      cd ${directory}
      give() { echo 4999 > /proc/sys/kernel/ns_last_pid; sleep 60 3>&- & test $! = 5000; }
      mkfifo cgroup.procs second
      give
      echo started
      exec 3> cgroup.procs
      mv second cgroup.procs
      echo 5000 >&3
      exec 3>&-
      exec 3> cgroup.procs
      kill -KILL 5000
      wait 5000 || test $? = 137
      give
      echo 5000 >&3
      exec 3>&-
      wait 5000 && echo lived || echo ended by $(($? - 128))`;
    const output = await inNamespace(`
      // Its stderr is ignored: dash reports the kill there.
      const writer = spawn('sh', ['-c', ${JSON.stringify(script)}], { stdio: ['ignore', 'pipe', 'ignore'] });
      const said = [];
      writer.stdout.on('data', (text) => said.push(text));
      await once(writer.stdout, 'data');
      const held = new native.CgroupHandle(${JSON.stringify(directory)});
      const result = held.signal(9);
      await new Promise((later) => setTimeout(later, 50));
      const stat = '/proc/5000/stat';
      const lives = fs.existsSync(stat) && /^5000 \\(\\w+\\) [RSD]/.test(fs.readFileSync(stat, 'latin1'));
      console.log(JSON.stringify([result, lives, String(Buffer.concat(said))]));
      process.exit();
    `);
    expect(JSON.parse(output)).toMatchObject([{ found: 1, signalled: 0, errno: 0 }, true, 'started\n']);
  });
});
