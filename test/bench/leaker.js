// A process that takes memory and prints when its usage crossed a limit. leak.ts starts it in a cgroup; it does not use evictd.
//
// Arguments: a file with the usage of the cgroup in question. Then commands on standard input, one a line:
//   touch LIMIT BEYOND     takes memory until usage ≥ LIMIT and BEYOND bytes more, answers 'FROM TO' and gives all of it back
//   leak LIMIT FILE        takes memory for ever; notes in FILE when usage crossed LIMIT and when it was last alive
//
// The crossing lies between two readings of the clock, FROM and TO (monotonic ns): the touches in between made it.
import { openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PAGE = 4096;
/**
 * Pages between two looks: few, so that FROM and TO are close; not each, because looking must not slow down the leak.
 */
const STRIDE = 16;
/** Beyond malloc's largest threshold for mmap (32 MiB): what is dropped goes back to the kernel. */
const BLOCK = 64 * 1024 * 1024;

const [usageFile = ''] = process.argv.slice(2);
const usageFd = openSync(usageFile, 'r');
const text = Buffer.alloc(32);

function usage() {
  return Number(text.toString('latin1', 0, readSync(usageFd, text, 0, text.length, 0)));
}

/** @type {Buffer[]} */
let held = [];
let at = BLOCK;

function takeStride() {
  if (at >= BLOCK) {
    held.push(Buffer.allocUnsafeSlow(BLOCK));
    at = 0;
  }
  const block = held[held.length - 1];
  if (block === undefined) return;
  for (const end = at + STRIDE * PAGE; at < end; at += PAGE) block[at] = 1;
}

/** @param {number} limit */
function cross(limit) {
  for (;;) {
    const from = process.hrtime.bigint();
    takeStride();
    const to = process.hrtime.bigint();
    if (usage() >= limit) return { from, to };
  }
}

/** @param {number} limit @param {number} beyond */
function touch(limit, beyond) {
  const { from, to } = cross(limit);
  for (let more = 0; more < beyond; more += STRIDE * PAGE) takeStride();
  return `${String(from)} ${String(to)}`;
}

/** @param {number} limit @param {string} file */
function leak(limit, file) {
  const clock = openSync(file, 'r+');
  const times = Buffer.alloc(24);
  const { from, to } = cross(limit);
  times.writeBigUInt64LE(from, 0);
  times.writeBigUInt64LE(to, 8);
  for (;;) {
    times.writeBigUInt64LE(process.hrtime.bigint(), 16);
    writeSync(clock, times, 0, times.length, 0);
    takeStride();
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, limit = '', second = ''] = line.split(' ');
  if (command === 'leak') leak(Number(limit), second);
  const answer = touch(Number(limit), Number(second));
  held = [];
  at = BLOCK;
  globalThis.gc?.();
  process.stdout.write(`${answer}\n`);
});
process.stdout.write('ready\n');
