import { beforeEach, expect, test } from 'vitest';
import { KernelKills } from '../../../src/features/oom/open.js';
import type { Host } from '../../../src/host/select.js';
import { native, type Binding, type KernelLogConstructor, type OnWake, type OomRecord } from '../../../src/native/index.js';

// The kernel's own log cannot be made to go away with a kill unread: here the addon's side of it is played.
// test/e2e/kernel-oom has a real file that goes away.

const EIO = 5;
const RECORD: OomRecord = {
  sequence: 1,
  timeUs: 2,
  constraint: 'global',
  oomMemcg: undefined,
  taskMemcg: '/evictd-test-none',
  pid: 4711,
  name: 'tail',
  uid: 0,
  anonRssBytes: 1,
  oomScoreAdj: 0,
};

let lines: string[];
let journal: object[];
let metrics: unknown[];
let logs: PlayedLog[];
let refuses: boolean;
beforeEach(() => {
  [lines, journal, metrics, logs, refuses] = [[], [], [], [], false];
});

class PlayedLog {
  live = true;
  unread: OomRecord[] = [];
  readonly #onWake: OnWake;

  constructor(onWake: OnWake) {
    if (refuses) throw Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE', syscall: 'open' });
    this.#onWake = onWake;
    logs.push(this);
  }
  records() {
    return { list: this.unread.splice(0), overruns: 0, dropped: 0 };
  }
  status() {
    return { mechanism: 'kmsg', target: '/dev/kmsg', live: this.live, errno: this.live ? 0 : EIO };
  }
  close() {
    this.live = false;
  }
  /** FIRED and GONE have coalesced. */
  goAway() {
    this.live = false;
    this.#onWake(native.WAKE.FIRED | native.WAKE.GONE, 0n, 0);
  }
}

function start(host?: Pick<Host, 'kernelKills'>): KernelKills {
  const say = (message: string) => lines.push(message);
  const kills = new KernelKills(
    {
      node: {
        identity: { name: 'machine', cgroup: undefined, cgroupVersion: 2 },
        oomKills: () => 7,
        hierarchy: { version: 2, controller: '', mountPoint: '/nonexistent', root: '/' },
      },
      log: { info: say, warn: say },
      guarded: { node: undefined, allocatable: undefined },
      workloads: { holding: () => undefined },
      metrics: { oomKilled: (...kill) => metrics.push(kill) },
      journal: { record: (record) => journal.push(record) },
    },
    { ...native, KernelLog: PlayedLog as unknown as KernelLogConstructor } satisfies Binding,
    host,
  );
  kills.start();
  return kills;
}
const tick = (kills: KernelKills, source: 'tick' | 'sampler' = 'tick') => {
  kills.stepped({ wake: { source, atNs: 0n } });
};
const GONE = 'cannot read OOM kills from the kernel log any more: /dev/kmsg: EIO (i/o error); evictd tries again at every tick';

test('the last records of a failing kernel log are read, and failure and recovery are logged once', () => {
  const kills = start();
  logs[0]?.unread.push(RECORD);
  logs[0]?.goAway();
  expect(journal).toMatchObject([{ type: 'kernel-oom', limit: 'node', process: { pid: 4711 }, oomKillsCounted: 7 }]);
  expect(metrics).toEqual([['node', 1]]);
  expect(lines).toEqual([expect.stringContaining('killed tail (pid 4711'), GONE]);
  tick(kills, 'sampler');
  expect(logs).toHaveLength(1);

  refuses = true;
  tick(kills);
  refuses = false;
  tick(kills);
  logs[1]?.goAway(); // an old descriptor again
  tick(kills);
  expect([logs.length, lines.length]).toEqual([3, 2]);
  tick(kills);
  expect(lines.slice(2)).toEqual(['reading OOM kills from the kernel log again']);
  tick(kills);
  expect([logs.length, lines.length]).toEqual([3, 3]);

  logs[2]?.goAway();
  expect(lines.slice(3)).toEqual([GONE]);
  kills.close();
  kills.close();
});

test('a kernel log that cannot be opened at the start is tried again', () => {
  refuses = true;
  const kills = start();
  expect(lines).toEqual([
    "cannot read OOM kills from the kernel log: EMFILE: too many open files, open; evictd only counts them, by the kernel's counters",
  ]);
  refuses = false;
  tick(kills);
  tick(kills);
  expect(lines.slice(1)).toEqual(['reading OOM kills from the kernel log again']);
  kills.close();
  expect(logs[0]?.live).toBe(false);
});

test('a system without an OOM killer has no record and no warning', () => {
  const kills = start({ kernelKills: undefined });
  tick(kills);
  kills.close();
  expect([logs, lines, journal]).toEqual([[], [], []]);
});
