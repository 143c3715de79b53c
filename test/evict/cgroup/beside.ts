import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { TestCgroup } from '../../support/cgroup.js';

const hierarchies = readHierarchies();
const isV1 = hierarchies.memory?.version === 1;

export const hasUnified = isV1 && hierarchies.unified !== undefined;
export const hasFreezer = isV1 && hierarchies.freezer !== undefined;

/** A cgroup of another hierarchy, for the processes of a victim that lives in v1's memory hierarchy. */
export interface Beside {
  readonly dir: string;
  /** Moves all processes of the victim in, including those forked meanwhile. */
  join(): void;
  add(pid: number): void;
  read(file: string): string;
  write(file: string, text: string): void;
  processes(): number[];
  /** Empty by then. */
  cleanup(): void;
}

const made: string[] = [];

/** Before anything is cleaned up: what is frozen cannot be killed on v1. */
export function thawBesides(): void {
  for (const dir of made.splice(0)) thaw(dir);
}

function thaw(dir: string): void {
  if (!existsSync(`${dir}/freezer.state`)) return;
  writeFileSync(`${dir}/freezer.state`, 'THAWED');
  for (const entry of readdirSync(dir, { withFileTypes: true })) if (entry.isDirectory()) thaw(`${dir}/${entry.name}`);
}

export function besideVictim(name: 'unified' | 'freezer', victim: TestCgroup): Beside {
  const hierarchy = hierarchies[name];
  if (hierarchy === undefined) throw new Error(`no ${name} hierarchy here`);
  const dir = `${hierarchy.mountPoint}/${basename(victim.dir)}`;
  mkdirSync(dir);
  made.push(dir);
  const pids = (directory: string): number[] => readFileSync(`${directory}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number);
  const add = (pid: number): void => {
    writeFileSync(`${dir}/cgroup.procs`, String(pid));
  };
  return {
    dir,
    add,
    join: () => {
      for (let left = new Set(pids(victim.dir)); left.size > 0;) {
        for (const pid of left) {
          try {
            add(pid);
          } catch {
            // it has ended
          }
        }
        const inside = new Set(pids(dir));
        left = new Set(pids(victim.dir).filter((pid) => !inside.has(pid) && existsSync(`/proc/${String(pid)}`)));
      }
    },
    read: (file) => readFileSync(`${dir}/${file}`, 'utf8'),
    write: (file, text) => {
      writeFileSync(`${dir}/${file}`, text);
    },
    processes: () => pids(dir),
    cleanup: () => {
      if (existsSync(dir)) rmdirSync(dir);
    },
  };
}
