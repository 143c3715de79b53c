import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { receiveNotifications, type NotifyReceiver } from '../support/notify-receiver.js';
import { Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile, until } from './wait.js';

/** As systemd starts a service of Type=notify with WatchdogSec=1. */
const started = async (config: Record<string, unknown>, watchdog = false): Promise<{ evictd: Evictd; manager: NotifyReceiver }> => {
  const directory = scratchDirectory();
  const address = join(directory, 'notify');
  const manager = await receiveNotifications(address);
  onTestFinished(() => manager.close());
  const env = [`NOTIFY_SOCKET=${address}`, ...(watchdog ? ['WATCHDOG_USEC=1000000'] : [])];
  const evictd = await new Evictd({ config, directory, through: ['env', ...env] }).guarding();
  return { evictd, manager };
};
/** The socket of a service manager, which connects to evictd at the first message. */
const SCRAPER = `
  $| = 1;
  socket(S, AF_UNIX, SOCK_DGRAM, 0) and bind(S, pack_sockaddr_un($ARGV[0])) or die "$ARGV[0]: $!";
  print "bound\\n";
  recv(S, my $state, 65536, 0);
  socket(C, AF_INET, SOCK_STREAM, 0) or die $!;
  my $is = connect(C, pack_sockaddr_in($ARGV[1], inet_aton("127.0.0.1"))) ? "connected" : "$!";
  print $state =~ s/\\n.*//sr, ": $is\\n"; sleep`;
const received = (manager: NotifyReceiver, what: RegExp): Promise<void> =>
  until(`the manager gets ${String(what)} (${manager.messages.join(', ')})`, () => manager.messages.some((line) => what.test(line)));

describe(`messages to the service manager (${ON})`, () => {
  test('are READY when evictd guards, its status, and STOPPING', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const { evictd, manager } = await started(guarding(node));
    await received(manager, /^READY=1/);
    expect(manager.messages[0]).toBe(`READY=1|STATUS=guarding ${node.path}`);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await received(manager, /^STATUS=guarding .*, MemoryPressure; evictions: 1, last: batch$/);
    expect(await evictd.stop()).toBe(0);
    await received(manager, /^STOPPING=1\|/);
    expect(manager.messages.filter((line) => line.startsWith('READY=1'))).toHaveLength(1);
  });

  test('are READY only when metrics can be scraped', async () => {
    const directory = scratchDirectory();
    const address = join(directory, 'notify');
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const port = String((occupant.address() as AddressInfo).port);
    occupant.close();
    await once(occupant, 'close');
    const scraper = spawn('perl', ['-MSocket', '-e', SCRAPER, address, port], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void scraper.kill('SIGKILL'));
    const said = createInterface({ input: scraper.stdout })[Symbol.asyncIterator]();
    expect((await said.next()).value).toBe('bound');
    const config = { ...guarding(testNode()), metrics: { listen: `127.0.0.1:${port}` } };
    new Evictd({ config, directory, through: ['env', `NOTIFY_SOCKET=${address}`] });
    expect((await said.next()).value).toBe('READY=1: connected');
  });

  test('are RELOADING and READY around a reload, accepted or refused', async () => {
    const { evictd, manager } = await started(guarding(testNode()));
    evictd.child.kill('SIGHUP');
    await until('the reload is over', () => manager.messages.filter((line) => line.startsWith('READY=1')).length === 2);
    writeFileSync(evictd.configFile, 'nonsense: 1\n');
    evictd.child.kill('SIGHUP');
    await until('the reload is over', () => manager.messages.filter((line) => line.startsWith('READY=1')).length === 3);
    const states = manager.messages.map((line) => line.split('|')[0]);
    expect(states).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'RELOADING=1', 'READY=1']);
    expect(manager.messages[1]).toMatch(/^RELOADING=1\|MONOTONIC_USEC=\d+$/);
  });

  test('are WATCHDOG at half of the requested interval', async () => {
    const { evictd, manager } = await started(guarding(testNode()), true);
    await until('three WATCHDOG messages', () => manager.messages.filter((line) => line === 'WATCHDOG=1').length >= 3);
    expect(await evictd.stop()).toBe(0);
  });

  test('are not WATCHDOG without a watchdog', async () => {
    const { manager } = await started(guarding(testNode()));
    await aWhile();
    expect(manager.messages).not.toContain('WATCHDOG=1');
  });

  test('are not needed: evictd guards without a service manager, and with an unusable socket', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config, through: ['env', 'NOTIFY_SOCKET=vsock:2:1'] }).guarding();
    expect(await evictd.stop()).toBe(0);
  });
});
