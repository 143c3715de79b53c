import { readdirSync, readFileSync } from 'node:fs';
import { inotifyWatches } from '../support/inotify.js';

/** Resources of a process. */
export interface Held {
  readonly residentMib: number;
  /** Anonymous memory: heaps and stacks. */
  readonly anonymousMib: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly inotifyWatches: number;
}

export function heldBy(pid: number): Held {
  const directory = `/proc/${String(pid)}`;
  const status = readFileSync(`${directory}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN);
  return {
    residentMib: field('VmRSS') / 1024,
    anonymousMib: field('RssAnon') / 1024,
    descriptors: readdirSync(`${directory}/fd`).length,
    threads: field('Threads'),
    inotifyWatches: inotifyWatches(pid).length,
  };
}
