import { describe, expect, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { hasSystemd, property, systemd } from '../support/systemd.js';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile } from '../e2e/wait.js';
import { leave, Scene } from '../systemd/scene.js';

const UNITS = 300;
/**
 * At most 80 MiB a second. Without a limit it fills the rest of memory in half a second, and an emulated machine needs
 * as long to read 300 units (a real one 3 ms): evictd or the kernel could be first.
 */
const LEAKING_SLOWLY = "/bin/sh -c 'while :; do head -c 8M /dev/zero; sleep 0.1; done | tail'";

describe.runIf(hasSystemd)(`${String(UNITS)} units (${ON}; needs systemd)`, () => {
  test('are all ranked, and only the leaking one is evicted', { timeout: 180_000 * SLOWNESS }, async () => {
    const scene = new Scene();
    const template = scene.service('many@', '/bin/sleep infinity');
    const instances = Array.from({ length: UNITS }, (_, index) => template.replace('@', `@${String(index)}`));
    const leak = scene.service('leak', LEAKING_SLOWLY);
    scene.start(...instances);
    const config = { evictionHard: { 'memory.available': '20%' }, workloads: [{ systemd: { slices: [scene.slice] } }] };
    const evictd = await new Evictd({ config }).guarding();

    leave(700);
    scene.start(leak);
    await evictd.recorded('outcome', leak);
    await aWhile();

    const decisions = evictd.journal().filter(({ type }) => type === 'decision');
    const asDecided = decisions.map(({ ranking, ...rest }) => ({ ...rest, ranking: (ranking as unknown[]).slice(0, 5) }));
    expect(decisions.map(victimOf), JSON.stringify(asDecided)).toEqual([leak]);
    expect(decisions[0]?.counts).toEqual({ ranking: UNITS + 1, unreadable: 0 });
    expect(property(leak, 'Result')).toBe('signal');
    const active = systemd('systemctl', 'is-active', ...instances).split('\n');
    expect(active.filter((state) => state === 'active')).toHaveLength(UNITS);
  });
});
