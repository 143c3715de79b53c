import { expect, onTestFinished, test } from 'vitest';
import { chaos, undoAll, type Undo } from '../chaos/chaos.js';
import { SLOWNESS } from '../support/slowness.js';
import { ON } from './node.js';

const SEED = 5;

/** `make chaos` has other seeds, on this machine only. */
test(
  `random actions keep every promise, seed ${String(SEED)} (${ON})`,
  async () => {
    const undo: Undo = [];
    onTestFinished(() => undoAll(undo));
    const { violations, evictions } = await chaos({ seed: SEED, actions: 40, out: 'build/chaos' }, undo);
    expect(violations).toEqual([]);
    expect(evictions).toBeGreaterThan(0);
  },
  300_000 * SLOWNESS,
);
