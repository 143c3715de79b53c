import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryDirectory } from './temporary-directory.js';

/** A tree of directories that has the shape of cgroups, and a visitor that remembers what it follows. */
export class FollowedTree {
  readonly root = temporaryDirectory();
  /** Holders that are watched. */
  readonly followed = new Set<string>();
  readonly visitor = {
    follow: (holder: string) => void this.followed.add(holder),
    unfollow: (holder: string) => {
      for (const path of this.followed) if (path === holder || path.startsWith(`${holder}/`)) this.followed.delete(path);
    },
    unlisted: () => expect.fail('all can be listed'),
  };

  make(...paths: readonly string[]): void {
    for (const path of paths) mkdirSync(join(this.root, path), { recursive: true });
  }
}
