import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

// A real server and a real eviction. test/features/notify has what a server can do wrong, and the other kinds.

/** undefined: it never answers. */
async function webhook(status: number | undefined): Promise<{ readonly url: string; readonly bodies: Record<string, unknown>[] }> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      if (status !== undefined) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`, bodies };
}

async function scene(notifications: object, args: readonly string[] = []) {
  const node = testNode();
  const victim = await workload(node.child('batch'), { growsMib: 200 });
  const evictd = await new Evictd({ config: { ...guarding(node), notifications }, args }).guarding();
  return { evictd, victim };
}

describe(`notifications (${ON})`, () => {
  test('to a webhook have the outcome as the journal has it', async () => {
    const { url, bodies } = await webhook(200);
    const { evictd, victim } = await scene({ webhook: url });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.until('it is sent', () => bodies.length > 0);
    const { time: _time, spansMs: _spans, ...outcome } = await evictd.recorded('outcome');
    expect(bodies).toMatchObject([outcome]);
    await evictd.until(
      'it is counted',
      async () => (await evictd.metric('evictd_notifications_total{kind="webhook",result="sent"}')) === 1,
    );
  });

  test('to a webhook that never answers are a warning, evictions go on, and evictd ends', async () => {
    const { url, bodies } = await webhook(undefined);
    const { evictd, victim } = await scene({ webhook: { url, timeout: '1s' } });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await evictd.logged(/^notifications\.webhook: 127\.0\.0\.1:\d+ does not answer; evictd retries; evictions go on$/);
    await evictd.until('it is tried again', () => bodies.length > 1);
    expect(await evictd.stop()).toBe(0);
  });

  test('in a dry run are not sent, but logged', async () => {
    const { url, bodies } = await webhook(200);
    const { evictd, victim } = await scene({ webhook: url }, ['--dry-run']);
    victim.grow();
    await evictd.logged(/^dry run: would notify of the eviction of batch: webhook$/);
    await aWhile();
    expect(bodies).toEqual([]);
  });

  test('are enabled by a reload', async () => {
    const { url, bodies } = await webhook(200);
    const { evictd, victim } = await scene({});
    const { node } = await evictd.recorded('start');
    await evictd.reloaded({
      evictionHard: { 'memory.available': '384Mi' },
      node: { cgroup: node },
      workloads: [{ cgroup: node }],
      notifications: { webhook: url },
    });
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    await evictd.until('it is sent', () => bodies.length > 0);
    expect(bodies).toMatchObject([{ type: 'outcome', victim: { name: 'batch' } }]);
  });
});
