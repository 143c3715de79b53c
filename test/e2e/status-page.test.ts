import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Browser } from './browser.js';
import { Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { until } from './wait.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror=alert(1)>\u202eevil';
const WINDOWS = [
  { width: 375, height: 812, scheme: 'light' },
  { width: 375, height: 812, scheme: 'dark' },
  { width: 1280, height: 900, scheme: 'light' },
  { width: 1280, height: 900, scheme: 'dark' },
] as const;
/** Where a person looks at the screenshots. */
const SHOTS = process.env.EVICTD_SCREENSHOTS;

test('on a public address the browser asks for the token, and also sends it for the events', async () => {
  const directory = scratchDirectory();
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, 'Zm9yIGEgdGVzdCBvbmx5\n');
  const evictd = await new Evictd({ config: { metrics: { listen: '0.0.0.0:0', tokenFile } }, directory }).guarding();
  const origin = `http://127.0.0.1:${String(await evictd.port())}`;
  const browser = await Browser.open();
  const text = (): Promise<string> => browser.evaluate("document.body?.innerText ?? ''");
  await browser.visit(`${origin}/`, { ...WINDOWS[0], password: 'Zm9yIGEgdGVzdCBvbmx5' });
  await until('the page shows the order of eviction', async () => (await text()).includes('Order of eviction'));
  expect(browser.requests).not.toContain(`${origin}/api/v1/status`);
  expect((await evictd.get('/metrics'))?.status).toBe(200);
  expect((await evictd.get('/api/v1/status'))?.status).toBe(401);
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

test(`the status page is right before and after an eviction, on phone and desktop, light and dark (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'exit' });
  await workload(node.child('web'), { holdsMib: 10 });
  await workload(node.child(HOSTILE), { holdsMib: 30 });
  const config = {
    ...guarding(node, [{ match: { name: 'web' }, critical: true }]),
    metrics: { listen: '127.0.0.1:0' },
    monitoringInterval: '1s',
    evictionSoft: { 'memory.available': '400Mi' },
    evictionSoftGracePeriod: { 'memory.available': '10m' },
  };
  const evictd = await new Evictd({ config }).guarding();
  const origin = `http://127.0.0.1:${String(await evictd.port())}`;
  const browser = await Browser.open();
  const text = (): Promise<string> => browser.evaluate("document.body?.innerText ?? ''");
  const shows = (what: string) => until(`the page shows ${what}`, async () => (await text()).includes(what));

  await browser.visit(`${origin}/`, WINDOWS[2]);
  await shows('Order of eviction');
  await shows('No threshold is met, and everything is watched.');
  await shows('<img src=x onerror=alert(1)>\\u202eevil');
  batch.grow();
  await shows('evicted batch');

  await browser.evaluate(`document.querySelector('button[data-workload$="/web"]').click()`);
  await shows('never evicted');
  expect(await browser.evaluate('document.querySelector("dialog").open')).toBe(true);
  await browser.evaluate(`document.querySelector('dialog button').click()`);

  const choose = (name: string, value: string) =>
    browser.evaluate(
      `{ const choice = document.querySelector('select[name=${name}]'); choice.value = '${value}'; choice.dispatchEvent(new Event('change', { bubbles: true })); }`,
    );
  await choose('signal', 'pid.available');
  await shows('for pid.available, ');
  await choose('order', 'name');
  await until('it is sorted by name', async () => /<img src=x[^]*\bweb\b/.test(await text()));

  for (const window of WINDOWS) {
    await browser.visit(`${origin}/`, window);
    await shows('evicted batch');
    const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await browser.evaluate(beyond)).toBe(0);
    const background = await browser.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(window.scheme === 'dark' ? 'rgb(17, 21, 26)' : 'rgb(246, 247, 249)');
    await browser.evaluate(AXE);
    const { violations } = await browser.evaluate<{ violations: Violation[] }>('axe.run()');
    expect(
      violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ failureSummary, target }) => `${String(target)} ${failureSummary}`).join('; ')}`,
      ),
    ).toEqual([]);
    const png = await browser.screenshot();
    if (SHOTS !== undefined) writeFileSync(join(SHOTS, `${String(window.width)}-${window.scheme}.png`), png);
  }
  expect(await browser.evaluate('document.querySelectorAll("img").length')).toBe(0);
  expect(browser.requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:image/svg'))).toEqual([]);
  expect(browser.requests).toContain(`${origin}/api/v1/events`);
  expect(browser.requests).not.toContain(`${origin}/api/v1/status`);
  expect(browser.complaints).toEqual([]);
  expect(await evictd.stop()).toBe(0);
  await shows('evictd does not answer. Trying again.');
});
