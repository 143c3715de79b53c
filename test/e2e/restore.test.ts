import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { thisInstallation } from '../../src/compose/installation.js';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { adjOf } from '../support/oom-score-adj.js';
import { Evictd, evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

const QUIET = { evictionHard: { 'memory.available': '1Mi' }, monitoringInterval: '100ms', oomScoreAdj: 'qos' } as const;

const hasFuse = await fuseWorks();

describe(`evictd restore (${ON})`, () => {
  test('undoes what an evictd left after SIGKILL, or keeps and names it until that is possible', async () => {
    const node = testNode();
    const { pid } = await workload(node.child('batch'), { holdsMib: 1 });
    const found = adjOf(pid);
    const config = { ...guarding(node), ...QUIET };
    const directory = scratchDirectory();
    writeFileSync(join(directory, 'state'), 'in the way of the journal');
    const killed = await new Evictd({ config, directory }).guarding();
    await killed.until('oom_score_adj is written', () => adjOf(pid) === 1000);
    const restore = () => evictd('restore', '--config', killed.configFile, '--runtime-directory', join(directory, 'run'));
    expect(await restore()).toMatchObject({
      code: 1,
      stdout: `keep    ${directory}/run (used by another evictd (process ${String(killed.pid)}): it restores what it has changed when it stops)\n`,
    });
    expect(adjOf(pid)).toBe(1000);
    await killed.stop('SIGKILL');

    const first = await restore();
    expect(adjOf(pid)).toBe(found);
    expect(first.stdout).toContain(`restore ${directory}/run (oom_score_adj of 1 process)\n`);
    expect(first.stdout).toMatch(/^keep {4}\S+ \(\d+ journal records? that could not be written to \S+\/state: .*evictd restore\)$/m);
    expect(first.code).toBe(1);

    rmSync(join(directory, 'state'));
    expect(await restore()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^restore \S+ \(\d+ journal records? to /) as string });
    expect(killed.journal().map(({ type }) => type)).toContain('start');
    expect(await restore()).toMatchObject({ code: 0, stdout: 'nothing is left to undo\n' });
  });

  test.runIf(hasFuse)('does not wait for a directory that does not answer', async () => {
    const { machine } = thisInstallation();
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const path = join(fuse.directory, 'state');
    expect(await Promise.all([path, fuse.directory].map((requested) => machine.isThere(requested)))).toEqual([false, true]);
    await fuse.hang('untaken');
    expect(await machine.isThere(path)).toBe(undefined);
  });

  test.runIf(hasFuse)('ends although the state directory does not answer', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const directory = scratchDirectory();
    writeFileSync(join(directory, 'state'), 'in the way of the journal');
    const config = { ...guarding(testNode()), ...QUIET };
    const killed = await new Evictd({ config, directory }).guarding();
    await killed.stop('SIGKILL');
    killed.configure({ ...config, stateDirectory: fuse.directory });
    await fuse.hang('untaken');
    const { code, stdout } = await evictd('restore', '--config', killed.configFile, '--runtime-directory', join(directory, 'run'));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^keep .* could not be written to \S+: no answer for 5 s; .*\n$/)]);
  });
});
