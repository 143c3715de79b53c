import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ProcessEntry } from '../../src/native/windows-binding.js';
import { eventually } from '../support/eventually.js';
import { native } from './native.js';
import { spawn } from './spawn.js';

const IDLE = 'setInterval(() => undefined, 1000)';
/** Has a child outside of the job by which libuv ends children with their parent. */
const PARENT = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { stdio: 'ignore', detached: true }); ${IDLE}`;

/** A node.exe that sleeps until the end of the test. */
export async function child(script = IDLE): Promise<ProcessEntry> {
  const started = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  onTestFinished(() => void started.kill());
  await once(started, 'spawn');
  const { pid = 0 } = started;
  return settled(() => entryOf(pid));
}

/** Wine changes the creation time of a process when it begins to run. */
function settled(look: () => ProcessEntry | undefined): Promise<ProcessEntry> {
  let before: ProcessEntry | undefined;
  return eventually('the process runs', async () => {
    const now = look();
    const same = now !== undefined && now.createdAt === before?.createdAt && now.cpuTimeNs > 0n;
    before = now;
    if (!same) await pause(100);
    return same ? now : undefined;
  });
}

/** A process with one child besides its console (conhost.exe). */
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
