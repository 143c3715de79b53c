import { readFileSync } from 'node:fs';
import { isBelow } from '../../core/cgroup.js';
import { parseMountinfo } from './mountinfo.js';

/**
 * Those of these paths that lie on what is mounted read-only, as a process sees it: by its mounts alone, so that it does not matter whether that answers. Of one that is not there, or of
 * which it may not be known, none.
 */
export function onReadOnlyMounts(paths: readonly string[], pid = process.pid): readonly string[] {
  if (paths.length === 0) return [];
  try {
    const mountinfo = readFileSync(`/proc/${String(pid)}/mountinfo`, 'utf8');
    return paths.filter((path) => isOnReadOnlyMount(path, mountinfo));
  } catch {
    return [];
  }
}

export function isOnReadOnlyMount(path: string, mountinfo: string): boolean {
  const above = parseMountinfo(mountinfo).filter(({ mountPoint }) => mountPoint === path || isBelow(path, mountPoint));
  // The innermost; of those at the same place the last hides the others.
  const mount = above.reduce<(typeof above)[number] | undefined>(
    (inner, next) => (inner === undefined || next.mountPoint.length >= inner.mountPoint.length ? next : inner),
    undefined,
  );
  return mount?.readOnly ?? false;
}
