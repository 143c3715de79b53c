import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openShutdownDelay } from '../../src/host/linux/systemd/shutdown-delay.js';
import type { ShutdownDelay } from '../../src/monitor/ports/shutdown-delay.js';
import { eventually } from '../support/eventually.js';
import { kill } from '../support/kill.js';
import { lockHolders, MANAGER } from '../support/logind.js';
import { hasSystemd, property, systemd } from '../support/systemd.js';

const LOGIND_DROP_IN = '/run/systemd/logind.conf.d/evictd-test.conf';
const TARGET_DROP_IN = '/run/systemd/system/poweroff.target.d/evictd-test.conf';

function write(file: string, text: string): void {
  mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
  writeFileSync(file, text);
}

const preparing = (): boolean => systemd('busctl', 'get-property', ...MANAGER, 'PreparingForShutdown') === 'b true';

describe.skipIf(!hasSystemd)('the delay lock of logind (needs systemd)', () => {
  const open: ShutdownDelay[] = [];
  const events: string[] = [];

  const start = async (): Promise<ShutdownDelay> => {
    const delay = openShutdownDelay(true);
    open.push(delay);
    delay.start({
      prepare: (begins) => events.push(begins ? 'goes down' : 'stays'),
      changed: (state) => events.push(state.kind === 'off' ? `off: ${state.reason}` : state.kind),
    });
    await eventually('the lock is held', () => delay.state.kind === 'held', { circumstances: () => events.join(', ') });
    return delay;
  };

  // Longer than any test: otherwise logind continues by itself, and the target refuses.
  beforeAll(() => {
    write(LOGIND_DROP_IN, '[Login]\nInhibitDelayMaxSec=600\n');
    systemd('systemctl', 'restart', 'systemd-logind');
  });
  afterAll(() => {
    rmSync(LOGIND_DROP_IN, { force: true });
    systemd('systemctl', 'restart', 'systemd-logind');
  });
  afterEach(async () => {
    for (const delay of open.splice(0)) delay.close();
    await eventually('no lock is held', () => lockHolders().length === 0);
    events.length = 0;
  });

  test('is acquired, listed, and released when closed', async () => {
    const delay = await start();
    expect(lockHolders()).toHaveLength(1);
    expect(systemd('systemd-inhibit', '--list', '--no-pager')).toMatch(
      /evictd +0 +root +\d+ +systemd-inhibit +shutdown +ends workloads in order \([0-9a-f]{8}\) +delay/,
    );
    delay.close();
    await eventually('the lock is released', () => lockHolders().length === 0);
    expect(events).toEqual(['held']);
  });

  const newLogind = async (delay: ShutdownDelay): Promise<void> => {
    systemd('systemctl', 'stop', 'systemd-logind');
    await eventually('the loss is reported', () => events.at(-1) === 'off: logind does not run');
    systemd('systemctl', 'start', 'systemd-logind');
    await eventually('the lock is held', () => delay.state.kind === 'held');
  };

  test('is kept over a restart of logind and of the bus', async () => {
    const delay = await start();
    const before = lockHolders();
    await newLogind(delay);
    expect(lockHolders()).toEqual(before);
    events.length = 0;
    systemd('systemctl', 'restart', 'dbus');
    await eventually('the loss is reported', () => events.some((line) => line.startsWith('off: cannot ask logind')));
    await eventually('the lock is held', () => delay.state.kind === 'held', { ms: 60_000 });
    expect(lockHolders()).toEqual(before);
  });

  test('is acquired again if logind has lost it', async () => {
    const delay = await start();
    const [before] = lockHolders();
    systemd('systemctl', 'stop', 'systemd-logind');
    await eventually('the loss is reported', () => delay.state.kind === 'off');
    systemd('find', '/run/systemd/inhibit', '-type', 'f', '-delete');
    systemd('systemctl', 'start', 'systemd-logind');
    await eventually('the lock is held', () => delay.state.kind === 'held');
    expect(events).toContain('off: logind has lost the lock');
    expect(lockHolders()).toEqual([expect.any(Number)]);
    expect(lockHolders()).not.toContain(before);
  });

  test('is acquired again if its holder process is killed', async () => {
    const delay = await start();
    const [before = 0] = lockHolders();
    kill(before, 'SIGKILL');
    await eventually(
      'another process holds the lock',
      () => delay.state.kind === 'held' && lockHolders().length === 1 && !lockHolders().includes(before),
    );
  });

  test('is released if evictd is killed', async () => {
    const program = `import('/project/src/host/linux/systemd/shutdown-delay.ts').then(({ openShutdownDelay }) => {
      openShutdownDelay(true).start({ prepare() {}, changed({ kind }) { console.log(kind); } });
      setInterval(() => {}, 1000);
    });`;
    const child = spawn(process.execPath, ['--import', 'tsx', '-e', program], { cwd: '/project', stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await eventually('the process holds the lock', () => said.includes('held'), { ms: 60_000 });
    expect(lockHolders()).toHaveLength(1);
    child.kill('SIGKILL');
    await eventually('the lock is released', () => lockHolders().length === 0);
  });

  test('does not give oom_score_adj to its holder', async () => {
    const own = readFileSync('/proc/self/oom_score_adj', 'utf8');
    onTestFinished(() => {
      writeFileSync('/proc/self/oom_score_adj', own);
    });
    writeFileSync('/proc/self/oom_score_adj', '-999');
    await start();
    const [holder = 0] = lockHolders();
    const [cat] = readFileSync(`/proc/${String(holder)}/task/${String(holder)}/children`, 'utf8').split(' ');
    expect([holder, Number(cat)].map((pid) => readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'utf8').trim())).toEqual(['0', '0']);
  });

  test('ignores signals of other senders than logind', async () => {
    const delay = await start();
    const names = systemd('busctl', 'list', '--unique', '--no-legend').split('\n');
    const own = names.map((line) => line.split(/\s+/)).filter(([, pid]) => Number(pid) === process.pid);
    expect(own).toHaveLength(1);
    const fake = [
      '--system',
      '--type=signal',
      '/org/freedesktop/login1',
      'org.freedesktop.login1.Manager.PrepareForShutdown',
      'boolean:true',
    ];
    const unprivileged = ['--reuid=nobody', '--clear-groups', 'dbus-send'];
    systemd('setpriv', ...unprivileged, ...fake);
    // To this connection alone: a unicast signal needs no match rule.
    systemd('setpriv', ...unprivileged, `--dest=${String(own[0]?.[0])}`, ...fake);
    // A true signal follows, and is reported.
    await newLogind(delay);
    expect(events).not.toContain('goes down');
  });

  test('delays a shutdown until it is released, and is acquired again if the shutdown is cancelled', async () => {
    const delay = await start();
    onTestFinished(() => {
      rmSync(TARGET_DROP_IN, { force: true });
      systemd('systemctl', 'daemon-reload');
    });
    // logind cancels at once for a masked target; it starts a refusing one only after all locks are released.
    write(TARGET_DROP_IN, '[Unit]\nRefuseManualStart=yes\n');
    systemd('systemctl', 'daemon-reload');
    if (property('poweroff.target', 'RefuseManualStart') !== 'yes') throw new Error('this machine would go down');
    systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
    await eventually('the shutdown is reported', () => events.includes('goes down'));
    expect([delay.state.kind, preparing()]).toEqual(['held', true]);
    // A later process gets the signal, too, and no lock.
    const late: boolean[] = [];
    const other = openShutdownDelay(true);
    open.push(other);
    other.start({ prepare: (begins) => late.push(begins), changed: () => undefined });
    await eventually('the shutdown is reported', () => late.length === 1);
    expect(other.state).toMatchObject({ kind: 'off', reason: 'the machine is already shutting down' });
    expect(spawnSync('systemd-inhibit', ['--what=shutdown', '--mode=delay', 'true']).status).not.toBe(0);
    delay.release();
    await eventually('the locks are held again', () => delay.state.kind === 'held' && other.state.kind === 'held');
    expect([events, late]).toEqual([
      ['held', 'goes down', 'released', 'stays', 'held'],
      [true, false],
    ]);
    expect([lockHolders().length, preparing()]).toEqual([2, false]);
  });
});
