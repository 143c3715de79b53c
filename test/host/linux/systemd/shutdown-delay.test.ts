import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DBusMessage } from 'dbus-native/lib/message.js';
import { expect, onTestFinished, test } from 'vitest';
import { LoginShutdownDelay } from '../../../../src/host/linux/systemd/shutdown-delay.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer, reply } from './bus-peer.js';

const LOGIN = '/org/freedesktop/login1';

/** A logind on a bus of its own, and `cat` for systemd-inhibit: what holds the lock is listed unless it is forgotten. */
class Scene {
  readonly told: string[] = [];
  runs = true;
  preparing = false;
  forgets = false;
  refuses = false;
  /** What is asked for the locks is kept here. */
  late: DBusMessage[] | undefined;
  command: readonly string[] | undefined;
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
      if (member === 'ListInhibitors') return { signature: 'a(ssssuu)', body: [this.forgets ? [] : this.holders().map(listed)] };
      return { signature: '', body: [] };
    };
    this.delay = new LoginShutdownDelay(peer.path, holds ? () => this.command : undefined);
    onTestFinished(() => {
      this.delay.close();
      rmSync(this.#directory, { recursive: true });
    });
  }

  static async open(change: (scene: Scene) => void = () => undefined, holds = true): Promise<Scene> {
    const scene = new Scene(await BusPeer.open(), holds);
    change(scene);
    scene.delay.start({
      prepare: (begins) => scene.told.push(begins ? 'goes down' : 'stays'),
      changed: (state) => scene.told.push(state.kind === 'off' ? `off: ${state.reason}` : state.kind),
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

  async becomes(kind: string): Promise<void> {
    await eventually(`it is ${kind}: ${JSON.stringify(this.told)}`, () => this.delay.state.kind === kind);
  }

  async hears(told: string): Promise<void> {
    await eventually(`it is told: ${told}`, () => this.told.some((line) => line.includes(told)));
  }

  /** logind was asked, and what it answered was taken in: it is asked once more only then. */
  async looks(): Promise<void> {
    for (let time = 1; time <= 2; time++) {
      const before = this.asked('ListInhibitors');
      this.peer.signal('PrepareForShutdown', LOGIN);
      await eventually('logind was asked', () => this.asked('ListInhibitors') > before);
    }
  }

  /** logind is asked, and does not answer yet: what does, with these holders, is returned. */
  async holdsBack(): Promise<(holders: readonly number[]) => void> {
    const late: DBusMessage[] = [];
    this.late = late;
    this.peer.signal('PrepareForShutdown', LOGIN);
    const call = await eventually('logind was asked', () => late[0]);
    this.late = undefined;
    return (holders) => {
      this.peer.send(reply(call, { signature: 'a(ssssuu)', body: [holders.map(listed)] }));
    };
  }

  asked(member: string): number {
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

const listed = (pid: number): unknown[] => ['shutdown', 'evictd', 'ends workloads in order', 'delay', 0, pid];

test('only logind is listened to, and only to what concerns a shutdown', async () => {
  const { peer } = await Scene.held();
  const rules = peer.calls.filter(({ member }) => member === 'AddMatch').map(({ body }) => String(body?.[0]));
  expect(rules).toEqual([
    expect.stringMatching(/sender='org\.freedesktop\.login1',.*member='PrepareForShutdown'/),
    expect.stringMatching(/sender='org\.freedesktop\.DBus',.*member='NameOwnerChanged',arg0='org\.freedesktop\.login1'/),
  ]);
});

test('held until it is released, and taken again when the shutdown is called off', async () => {
  const scene = await Scene.held();
  expect(scene.holders()).toHaveLength(1);
  scene.preparing = true;
  await scene.looks();
  await scene.looks();
  expect(scene.told).toEqual(['held', 'goes down']);
  expect(scene.holders()).toHaveLength(1);
  scene.delay.release();
  scene.delay.release();
  await eventually('nobody holds it', () => scene.holders().length === 0);
  await scene.looks();
  expect([scene.delay.state.kind, scene.holders()]).toEqual(['released', []]);
  scene.preparing = false;
  await scene.looks();
  await scene.becomes('held');
  expect(scene.told).toEqual(['held', 'goes down', 'released', 'stays', 'held']);
});

test('a signal that is not true is none: anybody can send one', async () => {
  const scene = await Scene.held();
  await scene.looks();
  expect(scene.told).toEqual(['held']);
});

test('nothing is released where the machine does not go down', async () => {
  const scene = await Scene.held();
  scene.delay.release();
  expect([scene.delay.state.kind, scene.holders().length]).toEqual(['held', 1]);
});

test('who starts while the machine goes down is told, and asks for no lock', async () => {
  const scene = await Scene.open((before) => (before.preparing = true));
  await scene.hears('goes down');
  expect(scene.delay.state).toMatchObject({ kind: 'off', reason: expect.stringContaining('goes down already') as string });
  expect(scene.holders()).toEqual([]);
});

test('a lock whose holder ends is taken again', async () => {
  const scene = await Scene.held();
  const [holder = 0] = scene.holders();
  process.kill(holder, 'SIGKILL');
  await scene.hears('has ended (SIGKILL)');
  await scene.becomes('held');
  expect(scene.holders()).not.toContain(holder);
});

test('a lock that logind has lost is taken again, and the old one is let go', async () => {
  const scene = await Scene.held();
  const [holder = 0] = scene.holders();
  scene.forgets = true;
  scene.peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
  await eventually('another holds it', () => !scene.holders().includes(holder) && scene.holders().length === 1);
  await scene.becomes('held');
});

test('a lock that was taken while logind answered cannot be in its answer', async () => {
  const scene = await Scene.open((before) => {
    before.command = ['/bin/sh', '-c', `while ! [ -e ${before.file('go')} ]; do sleep 0.01; done; exec ${before.file('cat')}`];
  });
  await eventually('logind was asked', () => scene.asked('ListInhibitors') === 1);
  const answers = await scene.holdsBack();
  writeFileSync(scene.file('go'), '');
  await scene.becomes('held');
  answers([]);
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await eventually('logind was asked once more', () => scene.asked('ListInhibitors') === 3);
  expect(scene.told).toEqual(['held']);
});

test('what happens while logind answers is asked for, too', async () => {
  const scene = await Scene.held();
  const answers = await scene.holdsBack();
  scene.preparing = true;
  scene.peer.signal('PrepareForShutdown', LOGIN);
  answers(scene.holders());
  await scene.hears('goes down');
});

test('a logind that does not run is not asked, for the bus would start it; when it comes the lock is taken', async () => {
  const scene = await Scene.open((before) => (before.runs = false));
  await scene.hears('logind does not run');
  expect([scene.asked('Get'), scene.holders()]).toEqual([0, []]);
  scene.runs = true;
  scene.peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
  await scene.becomes('held');
});

test('the bus that ends takes the promise with it, and the lock is still there when it comes again', async () => {
  const scene = await Scene.held();
  const holders = scene.holders();
  scene.peer.hangUp();
  await scene.hears('off: logind cannot be asked');
  await scene.becomes('held');
  expect(scene.holders()).toEqual(holders);
});

test('a logind that refuses is asked again', async () => {
  const scene = await Scene.open((before) => (before.refuses = true));
  await scene.hears('off: logind cannot be asked: it says no');
  scene.refuses = false;
  await scene.becomes('held');
});

test.each<[what: string, command: readonly string[] | undefined, reason: string]>([
  ['there is none', undefined, 'there is no systemd-inhibit'],
  ['it cannot be started', ['/nonexistent/systemd-inhibit'], 'ENOENT'],
  ['it says why', ['/bin/ls', '/nonexistent/evictd'], "cannot access '/nonexistent/evictd'"],
  ['it says nothing', ['/bin/false'], '/bin/false has ended (1)'],
])('where systemd-inhibit does not do its work the reason is said: %s', async (_what, command, reason) => {
  const scene = await Scene.open((before) => (before.command = command));
  await scene.hears(reason);
  expect(scene.delay.state.kind).toBe('off');
});

test('closed, nobody holds it', async () => {
  const scene = await Scene.held();
  scene.delay.close();
  scene.delay.close();
  await eventually('nobody holds it', () => scene.holders().length === 0);
});

test('there is no bus', async () => {
  const told: string[] = [];
  const delay = new LoginShutdownDelay('/nonexistent/evictd-bus', () => undefined);
  onTestFinished(() => {
    delay.close();
  });
  delay.start({ prepare: () => undefined, changed: (state) => told.push(JSON.stringify(state)) });
  await eventually('it is told', () => told[0]?.includes('ENOENT'));
});

test('who only listens hears of a shutdown, and takes no lock', async () => {
  const scene = await Scene.open(() => undefined, false);
  await scene.hears('off: it does not ask for the lock');
  scene.preparing = true;
  scene.peer.signal('PrepareForShutdown', LOGIN);
  await scene.hears('goes down');
  expect(scene.holders()).toEqual([]);
});
