import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A filesystem in user space that can stop answering: 1000 blocks of 4 KiB, 500 free, 400 for everybody; 100 inodes, 50 free.
 *
 * The two ways to hang differ for who waits. A request that the server never took can be given up by a fatal signal; one that it took cannot, until the
 * connection ends (request_wait_answer, fs/fuse/dev.c).
 */
export interface FuseMount {
  readonly directory: string;
  /** From now on it takes no request (`untaken`), or takes them and does not answer. Resolves when that is so. */
  hang(how: 'untaken' | 'unanswered'): Promise<void>;
  /** Answers again, first what it owes. */
  answer(): Promise<void>;
  /** Ends the connection from outside, by its abort file: what waits, and all that is asked later, fails. */
  abort(): void;
  /** Another mount in the same place, which answers. Only after `abort`. */
  again(): Promise<FuseMount>;
  /** Unmounts, aborted before or not, and ends the server. Leaves nothing behind. */
  remove(): Promise<void>;
}

/** Whether this machine lets us: the device is there, and mounting is allowed. Found out by doing it. */
export async function fuseWorks(): Promise<boolean> {
  try {
    await (await mountFuse()).remove();
    return true;
  } catch {
    return false;
  }
}

/** In a process of its own: whoever serves a filesystem must not wait for it. Replies as of include/uapi/linux/fuse.h, protocol 7.31. */
const SERVER = `
  const fs = require('node:fs');
  const [directory] = process.argv.slice(1);
  const device = fs.openSync('/dev/fuse', 'r+');
  const mount = require('node:child_process').spawnSync('mount',
    ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'evictd-test', directory],
    { stdio: ['ignore', 'inherit', 'inherit', device] });
  if (mount.status !== 0) process.exit(1);
  const [GETATTR, OPENDIR, STATFS, INIT, FORGET, INTERRUPT, BATCH_FORGET] = [3, 27, 17, 26, 2, 36, 42];
  const u32 = (length, fields) => { const b = Buffer.alloc(length); for (const [at, value] of fields) b.writeUInt32LE(value, at); return b; };
  const bodies = {
    [INIT]: () => u32(64, [[0, 7], [4, 31], [8, 65536], [16, 12 << 16 | 16], [20, 65536]]),
    [GETATTR]: () => u32(104, [[16, 1], [16 + 60, 0o40755], [16 + 64, 2]]), // attr: inode, mode, links; no time to live
    [STATFS]: () => u32(80, [[0, 1000], [8, 500], [16, 400], [24, 100], [32, 50], [40, 4096], [44, 255], [48, 4096]]),
  };
  const buffer = Buffer.alloc(1 << 20);
  let [taking, answering, reading, owed] = [true, true, false, []];
  const reply = ([op, unique]) => {
    const body = bodies[op]?.();
    const header = u32(16, [[0, 16 + (body?.length ?? 0)]]);
    header.writeInt32LE(body ? 0 : -38, 4);
    header.writeBigUInt64LE(unique, 8);
    try { fs.writeSync(device, body ? Buffer.concat([header, body]) : header); } catch (error) { if (error.code !== 'ENOENT') throw error; }
  };
  const serve = () => {
    if (!taking || reading) return;
    reading = true;
    fs.read(device, buffer, 0, buffer.length, null, (error) => {
      reading = false;
      if (error) process.exit(error.code === 'ENODEV' ? 0 : 1); // unmounted or aborted
      const request = [buffer.readUInt32LE(4), buffer.readBigUInt64LE(8)];
      if (![FORGET, INTERRUPT, BATCH_FORGET].includes(request[0])) { if (answering) reply(request); else owed.push(request); }
      if (!taking) console.log('last');
      serve();
      if (request[0] === INIT) console.log('mounted'); // not before: mount(2) does not wait for it
    });
  };
  process.stdin.on('data', (text) => {
    const word = String(text).trim();
    [taking, answering] = [word !== 'untaken', word !== 'unanswered'];
    if (answering) for (const request of owed.splice(0)) reply(request);
    serve();
    console.log(word);
  });
  // Whoever started it is gone, however that went: nothing is left behind.
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
    // What it said since then is still to be heard: others ask it, too.
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
  const tell = async (word: string): Promise<void> => {
    server.stdin.write(`${word}\n`);
    await heard(word);
  };
  const connection = connectionOf(directory);
  const end = async (): Promise<void> => {
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
      // The read that it is in takes one more, and answers it.
      spawn('stat', ['-f', directory], { stdio: 'ignore' });
      await heard('last');
    },
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

/** The number of a FUSE connection is the minor device number of its mount. Not by stat, which would ask the server. */
function connectionOf(directory: string): string {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((mount) => mount.split(' ')[4] === directory);
  const [, minor] = /^\d+ \d+ \d+:(\d+) /.exec(line ?? '') ?? [];
  if (minor === undefined) throw new Error(`${directory} is no mount`);
  return minor;
}

/** By fusectl, mounted for this moment where it is not. A connection that is gone has nothing to abort. */
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
