import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Job, ProcessEntry } from '../../src/native/windows-binding.js';
import { eventually } from '../support/eventually.js';
import { child, family, lives } from './children.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

let made = 0;
function newJob(): [job: Job, name: string] {
  const name = `evictd-test-${String(process.pid)}-${String((made += 1))}`;
  const job = new native.Job(name, true);
  onTestFinished(() => job.close());
  return [job, name];
}

function assign(job: Job, { pid, createdAt }: ProcessEntry): void {
  const handle = new native.ProcessHandle(pid, createdAt, () => undefined);
  job.assign(handle);
  handle.close();
}

describe('Job', () => {
  test('contains its processes and their new children; terminate() ends all of them, and no other process', async () => {
    const [job] = newJob();
    const [inside, outside] = [await child(), await child()];
    const [parent, own] = await family();
    assign(job, inside);
    assign(job, parent);
    expect(job.processes().sort()).toEqual([inside.pid, parent.pid].sort());
    job.terminate(7);
    await eventually('the processes have ended', () => !lives(inside) && !lives(parent));
    expect([lives(outside), lives(own), job.processes()]).toEqual([true, true, []]);
  });

  test('a child of a member is a member', async () => {
    const [job, name] = newJob();
    const go = `evictd-test-go-${String(process.pid)}`;
    const script = `const fs = require('node:fs'); const file = require('node:path').join(require('node:os').tmpdir(), ${JSON.stringify(go)});
      const look = setInterval(() => { if (!fs.existsSync(file)) return; clearInterval(look); fs.rmSync(file);
        require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' }); }, 50);
      setInterval(() => undefined, 1000);`;
    const parent = await child(script);
    assign(job, parent);
    writeFileSync(join(tmpdir(), go), '');
    // Beside its console (conhost.exe).
    const own = await eventually('the child is a member', () =>
      native.processes().find(({ pid, name: program }) => program === parent.name && pid !== parent.pid && job.processes().includes(pid)),
    );
    expect(own.parentPid).toBe(parent.pid);
    const opened = new native.Job(name);
    opened.terminate(3);
    opened.close();
    await eventually('both have ended', () => !lives(parent) && !lives(own));
  });

  test('a limit is accepted; Wine keeps none', () => {
    const [job] = newJob();
    job.setCommitLimit(512n << 20n);
    expect(job.commitLimit()).toBe(0n);
    expect(thrownBy(() => job.setCommitLimit(1 as never))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  test('a limit is in force only with its flag in the structure', () => {
    expect(spawnSync('build\\wine\\job_limits_test.exe', { stdio: 'ignore' }).status).toBe(0);
  });

  test('opening a missing name and creating an existing one are errors', () => {
    const [, name] = newJob();
    expect(thrownBy(() => new native.Job(`${name}-none`))).toMatchObject({
      code: 'ERROR_FILE_NOT_FOUND',
      errno: -2,
      syscall: 'OpenJobObjectW',
      path: `${name}-none`,
    });
    expect(thrownBy(() => new native.Job(name, true))).toMatchObject({ code: 'ERROR_ALREADY_EXISTS', path: name });
  });

  test('close() may be called twice, and terminate() after it ends no process', async () => {
    const [job] = newJob();
    const one = await child();
    assign(job, one);
    job.close();
    job.close();
    expect(thrownBy(() => job.terminate(1))).toMatchObject({ code: 'ERROR_INVALID_HANDLE' });
    expect(lives(one)).toBe(true);
  });

  test('anything but an open process handle is refused', async () => {
    const [job] = newJob();
    const one = await child();
    const handle = new native.ProcessHandle(one.pid, one.createdAt, () => undefined);
    handle.close();
    expect(thrownBy(() => job.assign(handle))).toMatchObject({ code: 'ERROR_INVALID_HANDLE' });
    expect(thrownBy(() => job.assign(job as never))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});
