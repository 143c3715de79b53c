import { mkdirSync } from 'node:fs';

/** Makes `count` cgroups side by side below one. Returns their directories. */
export function makeWide(directory: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const child = `${directory}/c${String(index)}`;
    mkdirSync(child);
    return child;
  });
}

/** Makes a cgroup in a cgroup in a cgroup. Returns the directory of the deepest. */
export function makeDeep(directory: string, depth: number): string {
  let deepest = directory;
  for (let level = 0; level < depth; level++) mkdirSync((deepest += '/d'));
  return deepest;
}
