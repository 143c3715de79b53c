import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DBusMessage } from 'dbus-native/lib/message.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LoginShutdownDelay } from '../../../../src/host/linux/systemd/shutdown-delay.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer, reply } from './bus-peer.js';

const LOGIN = '/org/freedesktop/login1';

/**
 * A logind on a bus of its own, and `cat` for systemd-inhibit: what holds the lock is listed unless it is forgotten,
 * with another pid than it has here, as to a logind outside of a container.
 */
class Scene {
  readonly reported: string[] = [];
  runs = true;
  preparing = false;
  forgets = false;
  refuses = false;
  /** What is asked for the locks is kept here. */
  late: DBusMessage[] | undefined;
  command: readonly string[] | undefined;
  /** Of the last lock that was asked for. */
  why = '';
  readonly delay: LoginShutdownDelay;
  readonly #directory: string;

  private constructor(
    readonly peer: BusPeer,
    holds: boolean,
  ) {
    this.#directory = mkdtempSync(join(tmpdir(), 'evictd-inhibit-'));
    symlinkSync('/bin/cat', this.file('cat'));
    this.command = [this.file('cat')];
    peer.answer = (call) => {
      const { member, body } = call;
      if (member === 'Hello') return { signature: 's', body: [':1.1'] };
      if (member === 'NameHasOwner') return { signature: 'b', body: [this.runs] };
      if (member === 'Get' && this.refuses) return { error: 'org.freedesktop.DBus.Error.AccessDenied' };
      if (member === 'Get') return { signature: 'v', body: [['b', body?.[1] === 'PreparingForShutdown' && this.preparing]] };
      if (member === 'ListInhibitors' && this.late) {
        this.late.push(call);
        return undefined;
      }
      if (member === 'ListInhibitors') return { signature: 'a(ssssuu)', body: [this.forgets ? [] : this.listed()] };
      return { signature: '', body: [] };
    };
    this.delay = new LoginShutdownDelay(peer.path, holds ? this.inhibit : undefined);
    onTestFinished(() => {
      this.delay.close();
      rmSync(this.#directory, { recursive: true });
    });
  }

  readonly inhibit = (why: string): readonly string[] | undefined => {
    this.why = why;
    return this.command;
  };

  static async notStarted(): Promise<Scene> {
    return new Scene(await BusPeer.open(), true);
  }

  static async open(change: (scene: Scene) => void = () => undefined, holds = true): Promise<Scene> {
    const scene = new Scene(await BusPeer.open(), holds);
    change(scene);
    scene.delay.start({
      prepare: (begins) => scene.reported.push(begins ? 'goes down' : 'stays'),
      changed: (state) => scene.reported.push(state.kind === 'off' ? `off: ${state.reason}` : state.kind),
    });
    return scene;
  }

  static async held(): Promise<Scene> {
    const scene = await Scene.open();
    await scene.becomes('held');
    return scene;
  }

  file(name: string): string {
    return join(this.#directory, name);
  }

  /** Processes that hold the lock. */
  holders(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(this.#directory))
      .map(Number);
  }

  listed(): unknown[][] {
    return this.holders().map(() => ['shutdown', 'evictd', this.why, 'delay', 0, 1]);
  }

  async becomes(kind: string): Promise<void> {
    await eventually(`it is ${kind}: ${JSON.stringify(this.reported)}`, () => this.delay.state.kind === kind);
  }

  async hears(reported: string): Promise<void> {
    await eventually(`it is reported: ${reported}`, () => this.reported.some((line) => line.includes(reported)));
  }

  /** logind was asked, and what it answered was taken in: it is asked once more only then. */
  async looks(): Promise<void> {
    for (let time = 1; time <= 2; time++) {
      const before = this.requested('ListInhibitors');
      this.peer.signal('PrepareForShutdown', LOGIN);
      await eventually('logind was asked', () => this.requested('ListInhibitors') > before);
    }
  }

  /** logind is asked, and does not answer yet: what does, with these locks, is returned. */
  async holdsBack(): Promise<(listed: readonly unknown[][]) => void> {
    const late: DBusMessage[] = [];
    this.late = late;
    this.peer.signal('PrepareForShutdown', LOGIN);
    const call = await eventually('logind was asked', () => late[0]);
    this.late = undefined;
    return (listed) => {
      this.peer.send(reply(call, { signature: 'a(ssssuu)', body: [listed] }));
    };
  }

  requested(member: string): number {
    return this.peer.calls.filter((call) => call.member === member).length;
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

test('evictd subscribes only to signals of logind about a shutdown', async () => {
  const { peer } = await Scene.held();
  const rules = peer.calls.filter(({ member }) => member === 'AddMatch').map(({ body }) => String(body?.[0]));
  expect(rules).toEqual([
    expect.stringMatching(/sender='org\.freedesktop\.login1',.*member='PrepareForShutdown'/),
    expect.stringMatching(/sender='org\.freedesktop\.DBus',.*member='NameOwnerChanged',arg0='org\.freedesktop\.login1'/),
  ]);
});

test('the delay lock is held until it is released, and acquired again after a cancelled shutdown', async () => {
  const scene = await Scene.held();
  expect(scene.holders()).toHaveLength(1);
  scene.preparing = true;
  await scene.looks();
  await scene.looks();
  expect(scene.reported).toEqual(['held', 'goes down']);
  expect(scene.holders()).toHaveLength(1);
  scene.delay.release();
  scene.delay.release();
  await eventually('no process holds the lock', () => scene.holders().length === 0);
  await scene.looks();
  expect([scene.delay.state.kind, scene.holders()]).toEqual(['released', []]);
  scene.preparing = false;
  await scene.looks();
  await scene.becomes('held');
  expect(scene.reported).toEqual(['held', 'goes down', 'released', 'stays', 'held']);
});

test('a forged signal has no effect', async () => {
  const scene = await Scene.held();
  await scene.looks();
  expect(scene.reported).toEqual(['held']);
});

test('many signals do not cause calls without a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const scene = await Scene.held();
  scene.peer.sent = ({ member }) => {
    if (member === 'ListInhibitors') scene.peer.signal('PrepareForShutdown', LOGIN);
  };
  scene.peer.signal('PrepareForShutdown', LOGIN);
  for (let time = 1; time <= 3; time++) {
    await pause(200);
    expect(scene.requested('ListInhibitors')).toBe(time);
    await eventually('logind is asked', () => {
      if (scene.requested('ListInhibitors') > time) return true;
      vi.advanceTimersByTime(100);
      return false;
    });
  }
});

test('the lock is not released while the machine does not shut down', async () => {
  const scene = await Scene.held();
  scene.delay.release();
  expect([scene.delay.state.kind, scene.holders().length]).toEqual(['held', 1]);
});

test('an evictd that starts during a shutdown learns of it and acquires no lock', async () => {
  const scene = await Scene.open((before) => (before.preparing = true));
  await scene.hears('goes down');
  expect(scene.delay.state).toMatchObject({ kind: 'off', reason: expect.stringContaining('already shutting down') as string });
  expect(scene.holders()).toEqual([]);
});

test('a lock whose process ends is acquired again', async () => {
  const scene = await Scene.held();
  const [holder = 0] = scene.holders();
  process.kill(holder, 'SIGKILL');
  await scene.hears('has ended (SIGKILL)');
  await scene.becomes('held');
  expect(scene.holders()).not.toContain(holder);
});

test('a lock that logind has lost is acquired again, and the old one is released', async () => {
  const scene = await Scene.held();
  const [holder = 0] = scene.holders();
  scene.forgets = true;
  scene.peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
  await eventually('another holds it', () => !scene.holders().includes(holder) && scene.holders().length === 1);
  await scene.becomes('held');
  expect(scene.reported).toEqual(['held', 'off: logind has lost the lock', 'held']);
});

test('a similar lock of another evictd is not its own', async () => {
  const scene = await Scene.held();
  scene.why = 'ends workloads in order (of another evictd)';
  scene.peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
  await scene.hears('off: logind has lost the lock');
  await scene.becomes('held');
});

test('during a shutdown a lock that is not listed is kept, because there is no other to acquire', async () => {
  const scene = await Scene.held();
  const holders = scene.holders();
  scene.preparing = true;
  scene.forgets = true;
  await scene.looks();
  await scene.looks();
  expect([scene.reported, scene.holders()]).toEqual([['held', 'goes down'], holders]);
});

test('without free descriptors for systemd-inhibit the reason is reported, and it is tried again', async () => {
  const scene = await Scene.notStarted();
  const script = join(import.meta.dirname, 'starved-shutdown-delay.ts');
  const starved = [process.execPath, `--import=${import.meta.resolve('tsx')}`, script, scene.peer.path, scene.file('cat')];
  const child = spawn('/bin/sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...starved]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
  const circumstances = (): string => `${said} (${String(child.exitCode ?? child.signalCode)})`;
  await eventually('it is held', () => said.includes('held') || child.exitCode !== null, { ms: 30_000, circumstances });
  expect(said).toBe('off: the lock cannot be taken: spawn ' + scene.file('cat') + ' EMFILE\nheld\n');
});

test('a lock that was acquired during the answer of logind cannot be in the answer', async () => {
  const scene = await Scene.open((before) => {
    before.command = ['/bin/sh', '-c', `while ! [ -e ${before.file('go')} ]; do sleep 0.01; done; exec ${before.file('cat')}`];
  });
  await eventually('logind was asked', () => scene.requested('ListInhibitors') === 1);
  const answers = await scene.holdsBack();
  writeFileSync(scene.file('go'), '');
  await scene.becomes('held');
  answers([]);
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await eventually('logind was asked once more', () => scene.requested('ListInhibitors') === 3);
  expect(scene.reported).toEqual(['held']);
});

test('a change during logind’s answer causes another call', async () => {
  const scene = await Scene.held();
  const answers = await scene.holdsBack();
  scene.preparing = true;
  scene.peer.signal('PrepareForShutdown', LOGIN);
  answers(scene.listed());
  await scene.hears('goes down');
});

test('a logind that does not run gets no call, because the bus would start it, and the lock is acquired when it starts', async () => {
  const scene = await Scene.open((before) => (before.runs = false));
  await scene.hears('logind does not run');
  expect([scene.requested('Get'), scene.holders()]).toEqual([0, []]);
  scene.runs = true;
  scene.peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
  await scene.becomes('held');
});

test('without the bus the lock has no effect, and it is still there when the bus is back', async () => {
  const scene = await Scene.held();
  const holders = scene.holders();
  scene.peer.hangUp();
  await scene.hears('off: cannot ask logind');
  await scene.becomes('held');
  expect(scene.holders()).toEqual(holders);
});

test('a logind that refuses is called again', async () => {
  const scene = await Scene.open((before) => (before.refuses = true));
  await scene.hears('off: cannot ask logind: it says no');
  scene.refuses = false;
  await scene.becomes('held');
});

test('the lock is released if logind refuses for good, because logind would announce no shutdown', async () => {
  const scene = await Scene.held();
  scene.refuses = true;
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await scene.hears('off: cannot ask logind: it says no');
  expect(scene.holders()).toHaveLength(1);
  await eventually('no process holds the lock', () => scene.holders().length === 0);
  scene.refuses = false;
  await scene.becomes('held');
  expect(scene.holders()).toHaveLength(1);
});

test('the lock is kept during a shutdown, even if logind refuses for good', async () => {
  const scene = await Scene.held();
  scene.preparing = true;
  await scene.looks();
  scene.refuses = true;
  const before = scene.requested('Get');
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await eventually('it is refused for good', () => scene.requested('Get') >= before + 6);
  expect(scene.holders()).toHaveLength(1);
  scene.delay.release();
  await eventually('no process holds the lock', () => scene.holders().length === 0);
});

test.each<[what: string, command: readonly string[] | undefined, reason: string]>([
  ['there is no such program', undefined, 'there is no systemd-inhibit'],
  ['the program does not exist', ['/nonexistent/systemd-inhibit'], 'ENOENT'],
  ['the program may not be executed', ['/etc/passwd'], 'EACCES'],
  ['the program prints the reason', ['/bin/ls', '/nonexistent/evictd'], "cannot access '/nonexistent/evictd'"],
  ['the program prints nothing', ['/bin/false'], '/bin/false has ended (1)'],
])('the reason is reported if systemd-inhibit does not work: %s', async (_what, command, reason) => {
  const scene = await Scene.open((before) => (before.command = command));
  await scene.hears(reason);
  expect(scene.delay.state.kind).toBe('off');
});

test('the lock is released after close()', async () => {
  const scene = await Scene.held();
  scene.delay.close();
  scene.delay.close();
  await eventually('no process holds the lock', () => scene.holders().length === 0);
});

test('without a bus there is no lock', async () => {
  const reported: string[] = [];
  const delay = new LoginShutdownDelay('/nonexistent/evictd-bus', () => undefined);
  onTestFinished(() => {
    delay.close();
  });
  delay.start({ prepare: () => undefined, changed: (state) => reported.push(JSON.stringify(state)) });
  await eventually('it is reported', () => reported[0]?.includes('ENOENT'));
});

test('a listener learns of a shutdown and acquires no lock', async () => {
  const scene = await Scene.open(() => undefined, false);
  await scene.hears('off: evictd does not take the lock');
  scene.preparing = true;
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await scene.hears('goes down');
  expect(scene.holders()).toEqual([]);
});
