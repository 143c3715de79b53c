import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOperators } from '../../../src/workloads/systemd/operators.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
ann:x:1000:1000::/home/ann:/bin/bash
bob:x:1001:10::/home/bob:/bin/bash
eve:x:1002:1002::/home/eve:/bin/bash
`;

test.each<[rule: string, group: string | undefined, uids: number[]]>([
  ['without files it is root', undefined, [0]],
  ['a member of sudo', 'sudo:x:27:ann\n', [0, 1000]],
  ['the members of several groups', 'sudo:x:27:ann,eve\nadmin:x:28:bob', [0, 1000, 1001, 1002]],
  ['whose own group is wheel', 'wheel:x:10:\n', [0, 1001]],
  ['a group that is no administrators', 'sudoers:x:27:ann\nusers:x:1002:eve\n', [0]],
  ['a member who is not known here', 'sudo:x:27:zed\n', [0]],
])('%s', (_rule, group, uids) => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'etc'));
  if (group !== undefined) {
    writeFileSync(join(root, 'etc/passwd'), PASSWD);
    writeFileSync(join(root, 'etc/group'), group);
  }
  expect([...readOperators(root)].sort((a, b) => a - b)).toEqual(uids);
});
