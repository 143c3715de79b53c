import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ProcessEntry } from '../../src/native/windows-binding.js';
import { eventually } from '../support/eventually.js';
import { native } from './native.js';
import { spawn } from './spawn.js';

const IDLE = 'setInterval(() => undefined, 1000)';
/** Has a child of its own, which libuv would otherwise keep in a job that ends with its parent. */
const PARENT = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { stdio: 'ignore', detached: true }); ${IDLE}`;

/** A node.exe that does nothing until the test is over. */
export async function child(script = IDLE): Promise<ProcessEntry> {
  const started = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  onTestFinished(() => void started.kill());
  await once(started, 'spawn');
  const { pid = 0 } = started;
  return settled(() => entryOf(pid));
}

/** Wine sets the time of a process anew when that begins to run. */
function settled(look: () => ProcessEntry | undefined): Promise<ProcessEntry> {
  let before: ProcessEntry | undefined;
  return eventually('it runs', async () => {
    const now = look();
    const same = now !== undefined && now.createdAt === before?.createdAt && now.cpuTimeNs > 0n;
    before = now;
    if (!same) await pause(100);
    return same ? now : undefined;
  });
}

/** One that has started another, beside its console (conhost.exe). */
export async function family(): Promise<[parent: ProcessEntry, own: ProcessEntry]> {
  const parent = await child(PARENT);
  const own = await settled(() => native.processes().find(({ parentPid, name }) => parentPid === parent.pid && name === parent.name));
  onTestFinished(() => {
    try {
      process.kill(own.pid);
    } catch {
      // it has ended
    }
  });
  return [parent, own];
}

export const entryOf = (pid: number): ProcessEntry | undefined => native.processes().find((entry) => entry.pid === pid);

export const lives = ({ pid, createdAt }: ProcessEntry): boolean => entryOf(pid)?.createdAt === createdAt;
