import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/config.js';
import { windowsHost } from '../../../src/host/windows/windows-host.js';
import type { Binding } from '../../../src/native/binding.js';
import { PlayedBinding } from './binding.js';

function played(enable: () => boolean): Binding {
  return { ...new PlayedBinding().binding, enableDebugPrivilege: enable } as unknown as Binding;
}

test.each<[rule: string, enable: () => boolean, may: boolean]>([
  ['the token of the process has the privilege', () => true, true],
  ['the token of the process does not have the privilege', () => false, false],
  ['the call is refused', () => { throw PlayedBinding.refusal('ERROR_ACCESS_DENIED', 5, 'OpenProcessToken'); }, false], // oxfmt-ignore
])('whether processes of other users may be ended: %s', (_rule, enable, may) => {
  expect(windowsHost.canSignalOthers(played(enable))).toBe(may);
});

test('the privilege is enabled with the node, before processes are listed; a node opens without it', () => {
  let requested = 0;
  const native = played(() => {
    requested += 1;
    return false;
  });
  const node = windowsHost.openNode({ filesystems: { nodefs: 'C:\\' } } as Config, native, 'sample');
  expect(requested).toBe(1);
  expect(node.read().observed.has('memory.available')).toBe(true);
  node.close();
});
