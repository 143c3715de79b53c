import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findOperators, readOperators } from '../../../src/workloads/systemd/operators.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
ann:x:1000:1000::/home/ann:/bin/bash
bob:x:1001:10::/home/bob:/bin/bash
eve:x:1002:1002::/home/eve:/bin/bash
`;

test.each<[rule: string, group: string | undefined, uids: number[]]>([
  ['without files root is the only operator', undefined, [0]],
  ['a member of sudo', 'sudo:x:27:ann\n', [0, 1000]],
  ['the members of several groups', 'sudo:x:27:ann,eve\nadmin:x:28:bob', [0, 1000, 1001, 1002]],
  ['whose own group is wheel', 'wheel:x:10:\n', [0, 1001]],
  ['a group that is not one of administrators', 'sudoers:x:27:ann\nusers:x:1002:eve\n', [0]],
  ['a member of the group of administrators of a cloud', 'google-sudoers:x:30:eve\n', [0, 1002]],
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

test.each<[rule: string, files: Readonly<Record<string, string>>, uids: number[]]>([
  ['a user', { sudoers: 'ann ALL=(ALL:ALL) ALL\n' }, [0, 1000]],
  ['a user of a drop-in, without a password', { 'sudoers.d/90-cloud-init-users': '# User rules\nbob\tALL=(ALL) NOPASSWD:ALL' }, [0, 1001]],
  ['a group', { sudoers: '%ops ALL=(ALL) ALL # all of them\n' }, [0, 1000, 1002]],
  ['ids', { sudoers: '#1001 ALL = ALL\n%#40 ALL=(root) SETENV: NOPASSWD: ALL\n' }, [0, 1000, 1001, 1002]],
  ['several, on several lines', { sudoers: 'ann, \\\n  eve ALL=(ALL) /bin/ls, ALL\n' }, [0, 1000, 1002]],
  ['only some commands', { sudoers: 'ann ALL=(ALL) /usr/bin/apt\nbob ALL=(ALL) !ALL\neve ALL=/bin/echo ALL\n' }, [0]],
  ['all commands, but not as root', { sudoers: 'ann ALL=(postgres) ALL\n' }, [0]],
  ['comments, defaults and aliases', { sudoers: '# ann ALL=(ALL) ALL\nDefaults:ann env_keep=ALL\nUser_Alias bob = ALL\n' }, [0]],
  ['an alias of users', { sudoers: 'User_Alias ADMINS = ann, %#40 : OPS = bob\nADMINS ALL=(ALL:ALL) ALL\n' }, [0, 1000, 1002]],
  ['an alias that another file defines', { sudoers: 'OPS ALL=(ALL) ALL\n', 'sudoers.d/ops': 'User_Alias OPS = bob' }, [0, 1001]],
  ['an alias of aliases, and one of itself', { sudoers: 'User_Alias A = B, ann\nUser_Alias B = A, eve\nA ALL=ALL\n' }, [0, 1000, 1002]],
  [
    'an alias of those to run as',
    { sudoers: 'Runas_Alias ADM = root, bin\nRunas_Alias DB = pg\nann ALL=(ADM) ALL\nbob ALL=(DB) ALL' },
    [0, 1000],
  ],
  [
    'an alias of commands',
    { sudoers: 'Cmnd_Alias ANY = /bin/ls -l, ALL\nCmnd_Alias LS = /bin/ls ALL\nann ALL=ANY\nbob ALL=LS\n' },
    [0, 1000],
  ],
  ['an alias that only some commands are granted to', { sudoers: 'User_Alias A = ann\nA ALL=(ALL) /bin/ls\n' }, [0]],
  ['quoted names', { sudoers: '"ann" ALL=(ALL) ALL\n"%ops" ALL=(ALL) ALL # "bob" ALL=ALL\n' }, [0, 1000, 1002]],
  ['a name with an escape', { sudoers: '\\bob ALL=(ALL) ALL\n' }, [0, 1001]],
  ['other hosts', { sudoers: 'ann web=(pg) /bin/ls : db=(root) NOPASSWD: ALL\nbob web=(pg) ALL : db=/bin/ls\n' }, [0, 1000]],
  ['those to run as hold for the next commands', { sudoers: 'ann ALL=(pg) /bin/ls, ALL\nbob ALL=(pg) /bin/ls, (root) ALL\n' }, [0, 1001]],
  ['options of a command', { sudoers: 'ann ALL=(ALL) CWD=/tmp NOPASSWD: TIMEOUT=5m ALL\n' }, [0, 1000]],
  ['an excluded user', { sudoers: 'ann, !bob ALL=(ALL) ALL\n' }, [0, 1000]],
  [
    'included files',
    { sudoers: '@include /etc/sudoers.local\n#include more\n', 'sudoers.local': 'ann ALL=ALL', more: 'bob ALL=ALL' },
    [0, 1000, 1001],
  ],
  [
    'included directories, of which sudo ignores some files',
    { sudoers: '@includedir /etc/s\\ d/\n#includedir "/etc/x"', 's d/a': 'ann ALL=ALL', 's d/b.c': 'bob ALL=ALL', 'x/y': 'eve ALL=ALL' },
    [0, 1000, 1002],
  ],
  ['files that include each other', { sudoers: '@include a', a: '@include sudoers\n@include a\nann ALL=ALL' }, [0, 1000]],
  ['an included file that is not there', { sudoers: '@include nothing\nann ALL=ALL\n' }, [0, 1000]],
  ['files that sudo ignores', { 'sudoers.d/ann.bak': 'ann ALL=(ALL) ALL\n', 'sudoers.d/bob~': 'bob ALL=(ALL) ALL\n' }, [0]],
])('a line of sudoers: %s', (_rule, files, uids) => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'etc/sudoers.d'), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), PASSWD);
  writeFileSync(join(root, 'etc/group'), 'ops:x:40:ann,eve\n');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'etc', name)), { recursive: true });
    writeFileSync(join(root, 'etc', name), text);
  }
  expect([...readOperators(root)].sort((a, b) => a - b)).toEqual(uids);
});

test('each operator has the files and groups that make the user one, and unreadable files are named', () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'etc/sudoers.d/directory'), { recursive: true });
  mkdirSync(join(root, 'etc/sudoers')); // EISDIR
  writeFileSync(join(root, 'etc/passwd'), PASSWD);
  writeFileSync(join(root, 'etc/group'), 'ops:x:40:eve,ann\nsudo:x:27:ann\nusers:x:10:\n');
  writeFileSync(join(root, 'etc/sudoers.d/ops'), '%ops ALL=(ALL) ALL\nann ALL=(ALL) ALL\n');
  expect(findOperators(root)).toEqual({
    operators: [
      { uid: 0, name: 'root', because: [] },
      { uid: 1000, name: 'ann', because: ['/etc/sudoers.d/ops', 'member of group ops, /etc/sudoers.d/ops', 'member of group sudo'] },
      { uid: 1002, name: 'eve', because: ['member of group ops, /etc/sudoers.d/ops'] },
    ],
    unread: ['/etc/sudoers', '/etc/sudoers.d/directory'],
  });
});
