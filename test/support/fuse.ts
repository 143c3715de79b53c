import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A filesystem in user space that can stop answering: 1000 blocks of 4 KiB, 500 free, 400 for unprivileged users; 100
 * inodes, 50 free. It has one directory of files in memory; all belong to root.
 *
 * It hangs in two ways. A fatal signal interrupts a request that the server has not read; one that it has read waits
 * until the connection ends (request_wait_answer, fs/fuse/dev.c).
 */
export interface FuseMount {
  readonly directory: string;
  /** Stops reading requests (`untaken`), or reads them without an answer. Resolves when it has stopped. */
  hang(how: 'untaken' | 'unanswered'): Promise<void>;
  /** Stops answering at the next such call, or the nth. `stuck` resolves when a process waits in that call. */
  hangAt(call: FuseCall, nth?: number): Promise<void>;
  stuck(): Promise<void>;
  /** Answers again, pending requests first. */
  answer(): Promise<void>;
  /** Aborts the connection by its abort file: pending and later requests fail. */
  abort(): void;
  /** Mounts it again at the same place. Only after `abort`. */
  again(): Promise<FuseMount>;
  /** Unmounts, also after `abort`, and ends the server. */
  remove(): Promise<void>;
}

/** FUSE requests for statfs(2), write(2), fallocate(2), open(2), open(2) of a new file, link(2) and rename(2). */
export type FuseCall = 'statfs' | 'write' | 'fallocate' | 'open' | 'create' | 'link' | 'rename';

/** Whether FUSE can be mounted here: tries it. */
export async function fuseWorks(): Promise<boolean> {
  try {
    await (await mountFuse()).remove();
    return true;
  } catch {
    return false;
  }
}

/**
 * A separate process: a server must not wait for its own filesystem. Replies of include/uapi/linux/fuse.h, protocol
 * 7.31.
 */
const SERVER = `
  const fs = require('node:fs');
  const [directory] = process.argv.slice(1);
  const device = fs.openSync('/dev/fuse', 'r+');
  const mount = require('node:child_process').spawnSync('mount',
    ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'evictd-test', directory],
    { stdio: ['ignore', 'inherit', 'inherit', device] });
  if (mount.status !== 0) process.exit(1);
  const [GETATTR, OPENDIR, STATFS, INIT, FORGET, INTERRUPT, BATCH_FORGET] = [3, 27, 17, 26, 2, 36, 42];
  const [LOOKUP, SETATTR, UNLINK, RENAME, LINK, OPEN, READ, WRITE, RELEASE, FSYNC, FLUSH, RELEASEDIR, CREATE, FALLOCATE, RENAME2] =
    [1, 4, 10, 12, 13, 14, 15, 16, 18, 20, 25, 29, 35, 43, 45];
  const calls = { statfs: [STATFS], write: [WRITE], fallocate: [FALLOCATE], open: [OPEN], create: [CREATE], link: [LINK], rename: [RENAME, RENAME2] };
  const u32 = (length, fields) => { const b = Buffer.alloc(length); for (const [at, value] of fields) b.writeUInt32LE(value, at); return b; };
  const ROOT = 1;
  const nodes = new Map(); // number → content
  const modes = new Map(); // number → permissions
  const names = new Map(); // name → number
  let last = ROOT;
  const attributes = (number) => {
    const content = nodes.get(number);
    const links = [...names.values()].filter((other) => other === number).length;
    const attr = u32(88, [[0, number], [8, content?.length ?? 0], [60, content ? 0o100000 | modes.get(number) : 0o40755], [64, content ? links : 2], [80, 4096]]);
    return attr; // no time to live: the kernel asks each time
  };
  const entry = (number) => Buffer.concat([u32(40, [[0, number], [8, 1]]), attributes(number)]);
  const opened = u32(16, [[8, 1]]); // FOPEN_DIRECT_IO: what is written is here at once
  const done = Buffer.alloc(0);
  const nameAt = (request, at) => request.toString('utf8', at, request.indexOf(0, at));
  const nodeOf = (request) => Number(request.readBigUInt64LE(16));
  const resize = (number, size) => {
    const before = nodes.get(number) ?? done;
    nodes.set(number, Buffer.concat([before.subarray(0, size), Buffer.alloc(Math.max(0, size - before.length))]));
  };
  const renameAt = (request, at) => {
    const from = nameAt(request, at);
    const to = nameAt(request, at + Buffer.byteLength(from) + 1);
    if (!names.has(from)) return -2;
    names.set(to, names.get(from));
    if (to !== from) names.delete(from);
    return done;
  };
  const bodies = {
    [INIT]: () => u32(64, [[0, 7], [4, 31], [8, 65536], [16, 12 << 16 | 16], [20, 65536]]),
    [GETATTR]: (request) => Buffer.concat([Buffer.alloc(16), attributes(nodeOf(request))]),
    [STATFS]: () => u32(80, [[0, 1000], [8, 500], [16, 400], [24, 100], [32, 50], [40, 4096], [44, 255], [48, 4096]]),
    [LOOKUP]: (request) => (names.has(nameAt(request, 40)) ? entry(names.get(nameAt(request, 40))) : -2),
    [CREATE]: (request) => {
      last += 1;
      nodes.set(last, done);
      modes.set(last, request.readUInt32LE(44) & 0o777);
      names.set(nameAt(request, 56), last);
      return Buffer.concat([entry(last), opened]);
    },
    [OPEN]: () => opened,
    [SETATTR]: (request) => {
      if (request.readUInt32LE(40) & 8) resize(nodeOf(request), Number(request.readBigUInt64LE(56)));
      return Buffer.concat([Buffer.alloc(16), attributes(nodeOf(request))]);
    },
    [READ]: (request) => {
      const [at, size] = [Number(request.readBigUInt64LE(48)), request.readUInt32LE(56)];
      return (nodes.get(nodeOf(request)) ?? done).subarray(at, at + size);
    },
    [WRITE]: (request) => {
      const [number, at, size] = [nodeOf(request), Number(request.readBigUInt64LE(48)), request.readUInt32LE(56)];
      if (nodes.get(number).length < at + size) resize(number, at + size);
      request.copy(nodes.get(number), at, 80, 80 + size);
      return u32(8, [[0, size]]);
    },
    [UNLINK]: (request) => (names.delete(nameAt(request, 40)) ? done : -2),
    [LINK]: (request) => {
      if (names.has(nameAt(request, 48))) return -17;
      names.set(nameAt(request, 48), Number(request.readBigUInt64LE(40)));
      return entry(Number(request.readBigUInt64LE(40)));
    },
    [RENAME]: (request) => renameAt(request, 48),
    [RENAME2]: (request) => renameAt(request, 56),
    ...Object.fromEntries([RELEASE, FSYNC, FLUSH, FALLOCATE, RELEASEDIR].map((op) => [op, () => done])),
  };
  const buffer = Buffer.alloc(1 << 20);
  let [taking, answering, reading, unanswered, hangingAt, left] = [true, true, false, [], [], 0];
  const reply = ([op, unique, request]) => {
    const made = bodies[op]?.(request) ?? -38;
    const body = typeof made === 'number' ? undefined : made;
    const header = u32(16, [[0, 16 + (body?.length ?? 0)]]);
    header.writeInt32LE(body ? 0 : made, 4);
    header.writeBigUInt64LE(unique, 8);
    try { fs.writeSync(device, body ? Buffer.concat([header, body]) : header); } catch (error) { if (error.code !== 'ENOENT') throw error; }
  };
  const serve = () => {
    if (!taking || reading) return;
    reading = true;
    fs.read(device, buffer, 0, buffer.length, null, (error, length) => {
      reading = false;
      if (error) process.exit(error.code === 'ENODEV' ? 0 : 1); // unmounted or aborted
      const request = [buffer.readUInt32LE(4), buffer.readBigUInt64LE(8), Buffer.from(buffer.subarray(0, length))];
      if (hangingAt.includes(request[0]) && --left === 0) {
        [answering, hangingAt] = [false, []];
        console.log('stuck');
      }
      if (![FORGET, INTERRUPT, BATCH_FORGET].includes(request[0])) { if (answering) reply(request); else unanswered.push(request); }
      if (!taking) console.log('last');
      serve();
      if (request[0] === INIT) console.log('mounted'); // not before: mount(2) does not wait for it
    });
  };
  process.stdin.on('data', (text) => {
    const [word, nth = 1] = String(text).trim().split(' ');
    [hangingAt, left] = [calls[word] ?? [], Number(nth)];
    [taking, answering] = [word !== 'untaken', word !== 'unanswered'];
    if (answering) for (const request of unanswered.splice(0)) reply(request);
    serve();
    console.log(word);
  });
  // The process that started it has ended, whatever the reason: nothing is left behind.
  process.stdin.on('end', () => {
    require('node:child_process').spawnSync('umount', ['-l', directory], { stdio: 'ignore' });
    process.exit(0);
  });
  serve();
`;

export async function mountFuse(directory = mkdtempSync(join(tmpdir(), 'evictd-test-fuse-'))): Promise<FuseMount> {
  const server = spawn(process.execPath, ['-e', SERVER, directory], { stdio: ['pipe', 'pipe', 'ignore'] });
  const said: string[] = [];
  server.stdout.on('data', (chunk: Buffer) => said.push(...chunk.toString().split('\n').filter(Boolean)));
  const heard = async (word: string): Promise<void> => {
    for (let turns = 0; !said.includes(word); turns += 1) {
      if (server.exitCode !== null || turns > 2000) throw new Error(`the FUSE server in ${directory} does not say ${word}`);
      await pause(5);
    }
    // Its output since then may be of other requests.
    said.splice(0, said.indexOf(word) + 1);
  };
  try {
    await heard('mounted');
  } catch (error) {
    server.kill('SIGKILL');
    spawnSync('umount', ['-l', directory], { stdio: 'ignore' });
    rmdirSync(directory);
    throw error;
  }
  const tell = async (word: string, nth = 1): Promise<void> => {
    server.stdin.write(`${word} ${String(nth)}\n`);
    await heard(word);
  };
  const connection = connectionOf(directory);
  let ended = false;
  const end = async (): Promise<void> => {
    if (ended) return; // the number of its connection may have been given to another one
    ended = true;
    abort(connection);
    server.kill('SIGKILL');
    while (server.exitCode === null && server.signalCode === null) await pause(5);
    spawnSync('umount', ['-l', directory], { stdio: 'ignore' });
  };
  return {
    directory,
    hang: async (how) => {
      await tell(how);
      if (how === 'unanswered') return;
      // The read in progress takes one more request, and answers it.
      spawn('stat', ['-f', directory], { stdio: 'ignore' });
      await heard('last');
    },
    hangAt: tell,
    stuck: () => heard('stuck'),
    answer: () => tell('answer'),
    abort: () => {
      abort(connection);
    },
    again: async () => {
      await end();
      return mountFuse(directory);
    },
    remove: async () => {
      await end();
      try {
        rmdirSync(directory);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // the mount of `again` has removed it
      }
    },
  };
}

/**
 * The number of a FUSE connection: the minor device number of its mount. Not by stat, which would wait for the server.
 */
function connectionOf(directory: string): string {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((mount) => mount.split(' ')[4] === directory);
  const [, minor] = /^\d+ \d+ \d+:(\d+) /.exec(line ?? '') ?? [];
  if (minor === undefined) throw new Error(`${directory} is no mount`);
  return minor;
}

/** By fusectl, which is mounted meanwhile if necessary. Does nothing if the connection is gone. */
function abort(connection: string): void {
  const control = mkdtempSync(join(tmpdir(), 'evictd-test-fusectl-'));
  try {
    spawnSync('mount', ['-t', 'fusectl', 'none', control], { stdio: 'ignore' });
    writeFileSync(join(control, connection, 'abort'), '1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    spawnSync('umount', [control], { stdio: 'ignore' });
    rmdirSync(control);
  }
}
