import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fuseWorks, mountFuse, type FuseCall } from '../support/fuse.js';
import { loopWorks } from '../support/loop-filesystem.js';
import { stateOf, threadStates } from '../support/process-state.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { alive, available, disk, holder } from './disk-holder.js';
import { Evictd, EVICTD } from './evictd.js';
import { guarding, MIB, ON, testNode, workload } from './node.js';

describe.runIf(await fuseWorks())(`a node filesystem that stops answering (${ON}, where FUSE can be mounted)`, () => {
  test('is reported as unknown, delays neither evictions nor the end of evictd, and is asked again', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const node = testNode();
    const config = guarding(node);
    const evictionHard = { ...(config.evictionHard as object), 'nodefs.available': '1%' };
    const evictd = await new Evictd({
      config: { ...config, evictionHard, filesystems: { nodefs: fuse.directory }, monitoringInterval: '100ms' },
    }).guarding();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    await fuse.hang('untaken');
    await evictd.logged(/^nodefs\.available cannot be read: no answer from the filesystem of /);
    batch.grow();
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect((await evictd.get('/healthz'))?.status).toBe(200);

    fuse.abort();
    const again = await fuse.again();
    onTestFinished(() => again.remove());
    await evictd.logged(/^can be read again: nodefs\.available/);

    await again.hang('untaken');
    expect(await evictd.stop()).toBe(0);
  });

  test.each<[what: string, config: (directory: string) => object, call: FuseCall]>([
    ['nodefs', (directory) => ({ filesystems: { nodefs: directory }, evictionHard: { 'nodefs.available': '1%' } }), 'statfs'],
    ['the state directory', (directory) => ({ stateDirectory: directory }), 'write'],
  ])('%s has taken a request and never answers: evictd is killed, and the next one guards the node', async (_what, config, call) => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const { evictionHard, ...rest } = guarding(testNode());
    const { evictionHard: more, ...other } = config(fuse.directory) as { evictionHard?: object };
    const whole = { ...rest, evictionHard: { ...(evictionHard as object), ...more }, ...other, monitoringInterval: '100ms' };
    await fuse.hangAt(call);
    const first = new Evictd({ config: whole });
    onTestFinished(() => {
      fuse.abort(); // before it is waited for
    });
    await fuse.stuck();
    await first.logged(/^metrics are served/);
    first.child.kill('SIGKILL');
    await first.until('evictd is a zombie that a thread keeps', () => stateOf(first.pid) === 'Z');
    expect(threadStates(first.pid)).toContain('D');
    expect(readFileSync('/proc/locks', 'utf8')).not.toMatch(new RegExp(`WRITE ${String(first.pid)} `));

    const { stateDirectory: _hangs, filesystems: _hangsToo, ...free } = whole as { stateDirectory?: string; filesystems?: object };
    const second = await new Evictd({ config: { ...free, runtimeDirectory: join(first.directory, 'run') } }).guarding();
    expect([stateOf(first.pid), threadStates(first.pid)]).toEqual(['Z', expect.arrayContaining(['D'])]);
    expect(await second.stop()).toBe(0);
  });

  test.each<[command: string, args: readonly string[], said: RegExp]>([
    ['reclaim', ['--dry-run'], /^rotated-logs.*/m],
    ['doctor', [], /reclaim\.steps +rotated-logs/m],
  ])('%s does not wait for a filesystem of a reclaim step', async (command, args, said) => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const directory = temporaryDirectory('/dev/shm');
    const config = join(directory, 'config.yaml');
    const found = { ...guarding(testNode()), reclaim: [{ step: 'rotated-logs', olderThan: '21600h' }] };
    writeFileSync(config, JSON.stringify({ ...found, runtimeDirectory: directory, stateDirectory: directory }), { mode: 0o600 });
    // In this mount namespace the filesystem is /var/log, too.
    const program = [process.execPath, EVICTD, command, '--config', config, ...args];
    const child = spawn('unshare', [
      '-m',
      'sh',
      '-c',
      'mount --bind "$0" /var/log && echo there && read hangs && exec "$@"',
      fuse.directory,
      ...program,
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await fuse.hang('untaken');
    child.stdin.write('hangs\n');
    const ended = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
    const [stdout, [code, signal]] = await Promise.all([text(child.stdout), ended]);
    expect(stdout).toMatch(said);
    expect(signal).toBeNull();
    expect(code).toBeLessThan(3);
  });

  test.runIf(loopWorks())('does not delay another filesystem: the workload that fills that one with deleted files is evicted', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const node = testNode();
    const imagefs = disk(32);
    const some = await holder(node.child('some'), `${imagefs}/some`, 2);
    const evictd = await new Evictd({
      config: {
        ...guarding(node),
        evictionHard: { 'memory.available': '0%', 'nodefs.available': '1%', 'imagefs.available': '8Mi', 'imagefs.inodesFree': '0%' },
        filesystems: { nodefs: fuse.directory, imagefs },
        monitoringInterval: '100ms',
      },
    }).guarding();
    await fuse.hang('untaken');
    await evictd.logged(/^nodefs\.available cannot be read: no answer from the filesystem of /);
    const most = await holder(node.child('most'), `${imagefs}/most`, available(imagefs) / MIB - 4);
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'most' }, signal: 'imagefs.available' });
    expect(await most.ended).toBe('SIGKILL');
    expect(alive(some)).toBe(true);
    expect(await evictd.stop()).toBe(0);
  });
});
