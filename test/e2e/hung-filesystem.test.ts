import { describe, expect, onTestFinished, test } from 'vitest';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

describe.runIf(await fuseWorks())(`a node filesystem that stops answering (${ON}, where FUSE can be mounted)`, () => {
  test('is said to be unknown, delays no eviction and not the end, and is asked again', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const node = testNode();
    const config = guarding(node);
    const evictionHard = { ...(config.evictionHard as object), 'nodefs.available': '1%' };
    const evictd = await new Evictd({
      config: { ...config, evictionHard, filesystems: { nodefs: fuse.directory }, monitoringInterval: '100ms' },
    }).guarding();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    await fuse.hang('untaken');
    await evictd.logged(/^nodefs\.available cannot be read: no answer from the filesystem of /);
    batch.grow();
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect((await evictd.get('/healthz'))?.status).toBe(200);

    fuse.abort();
    const again = await fuse.again();
    onTestFinished(() => again.remove());
    await evictd.logged(/^can be read again: nodefs\.available/);

    await again.hang('untaken');
    expect(await evictd.stop()).toBe(0);
  });
});
