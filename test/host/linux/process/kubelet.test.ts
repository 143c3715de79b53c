import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { Kubelet } from '../../../../src/host/linux/process/kubelet.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let proc: string;
beforeEach(() => {
  proc = temporaryDirectory();
});

/** As /proc has it; no executable: a kernel thread. */
function process(pid: string, comm: string, executable?: string): void {
  const directory = join(proc, pid);
  mkdirSync(directory);
  writeFileSync(join(directory, 'comm'), `${comm}\n`);
  if (executable !== undefined) symlinkSync(executable, join(directory, 'exe'));
}

const none = [{ labels: { app: 'web' } }];

test.each([
  ['the executable is kubelet', 'kubelet', '/usr/bin/kubelet', true],
  ['the executable is a kubelet that was upgraded', 'kubelet', '/usr/bin/kubelet (deleted)', true],
  ['k3s', 'k3s-agent', '/usr/local/bin/k3s', true],
  ['a client of k3s', 'k3s', '/usr/local/bin/k3s', false],
  ['another program has the name', 'kubelet', '/usr/bin/python3', false],
  ['a kernel thread that is called so', 'kubelet', undefined, false],
])('a kubelet runs or not: %s', async (_what, comm, executable, manages) => {
  process('1', 'init', '/usr/lib/systemd/systemd');
  process('77', comm, executable);
  expect(await new Kubelet(proc).manages(none)).toBe(manages);
});

test('one container with a label of the kubelet proves a kubelet', async () => {
  expect(await new Kubelet(proc).manages([...none, { labels: { 'io.kubernetes.pod.uid': '1' } }])).toBe(true);
});

test('processes are read once a minute at most', async () => {
  const kubelet = new Kubelet(proc);
  expect(await kubelet.manages(none)).toBe(false);
  process('77', 'kubelet', '/usr/bin/kubelet');
  expect(await kubelet.manages(none)).toBe(false);
});

test('while processes cannot be read there may be a kubelet', async () => {
  process('1', 'init');
  let code = 'EMFILE';
  const kubelet = new Kubelet(proc, () => Promise.reject(Object.assign(new Error(code), { code, syscall: 'readlink' })));
  expect(await kubelet.manages(none)).toBe(true);
  code = 'ENOENT'; // a kernel thread
  expect(await kubelet.manages(none)).toBe(false);
  expect(await new Kubelet(join(proc, 'none')).manages(none)).toBe(true);
});

test.each([
  ['kubelet', 'EACCES', true],
  ['kubelet', 'EPERM', true],
  ['web', 'EACCES', false],
  ['web', 'ENAMETOOLONG', false],
])('a process with an unreadable executable is judged by its name: %s, %s', async (comm, code, manages) => {
  process('77', comm);
  const closed = (): Promise<string> => Promise.reject(Object.assign(new Error(code), { code, syscall: 'readlink' }));
  expect(await new Kubelet(proc, closed).manages(none)).toBe(manages);
});
