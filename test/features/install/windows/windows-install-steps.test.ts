import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { windowsCommandLine, requireTrustedPlace, windowsPlaces } from '../../../../src/features/install/windows/windows-places.js';
import {
  windowsInstallSteps,
  windowsUninstallSteps,
  type WindowsMachine,
} from '../../../../src/features/install/windows/windows-install-steps.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const ENV = { ProgramData: 'D:\\Data', SystemRoot: 'C:\\Windows', ProgramFiles: 'C:\\Program Files' };
const PROGRAM = ['C:\\Program Files\\evictd\\node.exe', 'C:\\Program Files\\evictd\\dist\\evictd.js'];
const LINE =
  '"C:\\Program Files\\evictd\\node.exe" "C:\\Program Files\\evictd\\dist\\evictd.js" "run" "--config" "D:\\Data\\evictd\\config.yaml" "--log-file" "D:\\Data\\evictd\\evictd.log"';

const requested: string[][] = [];

/** @param line  of the service that is there; undefined: there is none */
function machine(line: string | undefined, isAdministrator = true): WindowsMachine {
  return {
    places: windowsPlaces(ENV),
    isAdministrator,
    running: () => [],
    run: (command) => {
      requested.push([...command]);
      return line === undefined
        ? { status: 1, output: 'ERROR: The system was unable to find the specified registry key or value.' }
        : { status: 0, output: `HKEY_LOCAL_MACHINE\\SYSTEM\\...\r\n    ImagePath    REG_EXPAND_SZ    ${line}\r\n\r\n` };
    },
  };
}

const request = { program: PROGRAM, loads: [], configFile: 'D:\\Data\\evictd\\config.yaml', configNamed: false, now: true, dryRun: false };

/** 'make D:\Data\evictd', 'sc.exe create …' */
function said(steps: ReturnType<typeof windowsInstallSteps>): string[] {
  return steps.map((step) =>
    step.action === 'run' ? step.command.join(' ').replace('C:\\Windows\\System32\\', '') : `${step.action} ${step.path}`,
  );
}

test('a new service gets a directory for administrators only, a configuration, failure actions, and is started', () => {
  expect(said(windowsInstallSteps(request, machine(undefined)))).toEqual([
    'make D:\\Data\\evictd',
    'icacls.exe D:\\Data\\evictd /setowner *S-1-5-32-544 /T /L',
    'icacls.exe D:\\Data\\evictd /reset /T /L',
    'icacls.exe D:\\Data\\evictd /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F',
    `sc.exe create evictd binPath= ${LINE} start= auto DisplayName= evictd`,
    'write D:\\Data\\evictd\\config.yaml',
    'sc.exe description evictd Node-pressure eviction monitor: evicts the least important workload, and says why',
    'sc.exe failure evictd reset= 3600 actions= restart/1000/restart/5000/restart/60000',
    'net.exe start evictd',
  ]);
});

test('the command line of the service is one argument', () => {
  const create = windowsInstallSteps(request, machine(undefined)).find((step) => step.action === 'run' && step.command[1] === 'create');
  expect(create).toMatchObject({
    command: ['C:\\Windows\\System32\\sc.exe', 'create', 'evictd', 'binPath=', LINE, 'start=', 'auto', 'DisplayName=', 'evictd'],
  });
});

test('an existing service is left unchanged, and a start that finds it running has not failed', () => {
  const steps = windowsInstallSteps(request, machine(LINE));
  expect(said(steps).filter((step) => /create|config evictd|stop/.test(step))).toEqual([]);
  expect(steps.at(-1)).toMatchObject({ mayFail: true });
});

test('a service with another program is changed, and restarted', () => {
  const steps = said(windowsInstallSteps(request, machine(LINE.replace('Program Files\\evictd', 'Program Files\\old'))));
  expect(steps).toContain(`sc.exe config evictd binPath= ${LINE} start= auto DisplayName= evictd`);
  expect(steps.slice(-2)).toEqual(['net.exe stop evictd', 'net.exe start evictd']);
});

test('a configuration elsewhere is not made', () => {
  expect(
    said(windowsInstallSteps({ ...request, configFile: 'E:\\evictd.yaml' }, machine(undefined))).filter((step) => step.startsWith('write')),
  ).toEqual([]);
});

test('a foreign service of the same name is not touched', () => {
  expect(() => windowsInstallSteps(request, machine('"C:\\other.exe"'))).toThrow(
    expect.objectContaining({ code: 'EVICTD_INSTALL_FOREIGN' }),
  );
});

test.each([
  ['install', () => windowsInstallSteps(request, machine(undefined, false))],
  ['uninstall', () => windowsUninstallSteps({ stateDirectory: 'D:\\Data\\evictd\\state', dryRun: false }, machine(LINE, false))],
] as const)('%s needs an administrator', (_what, act) => {
  expect(act).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_ROOT' }));
});

test('a dry run needs no administrator', () => {
  expect(windowsInstallSteps({ ...request, dryRun: true }, machine(undefined, false)).length).toBeGreaterThan(0);
});

test('uninstall stops and deletes the service, and does nothing if there is none', () => {
  const stateDirectory = 'D:\\Data\\evictd\\state';
  expect(said(windowsUninstallSteps({ stateDirectory, dryRun: false }, machine(LINE)))).toEqual([
    'net.exe stop evictd',
    'sc.exe delete evictd',
  ]);
  expect(windowsUninstallSteps({ stateDirectory, dryRun: false }, machine(undefined))).toEqual([]);
});

test.each<[rule: string, line: string | undefined, configNamed: boolean, refused: boolean]>([
  ['any user may have written it if there is no service yet', undefined, false, true],
  ['--config names it', undefined, true, false],
  ['beside the service it is the administrator’s', LINE, false, false],
])('an existing configuration: %s', (_rule, line, configNamed, refused) => {
  const data = temporaryDirectory();
  const configFile = join(data, 'config.yaml');
  const places = { ...windowsPlaces(ENV), data, configFile };
  const install = (): unknown => windowsInstallSteps({ ...request, configFile, configNamed }, { ...machine(line), places });
  expect(install).not.toThrow();
  writeFileSync(configFile, '');
  if (refused) expect(install).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_UNSAFE' }));
  else expect(install).not.toThrow();
});

test.each([
  ['the directory itself', (data: string, elsewhere: string) => symlinkSync(elsewhere, data)],
  [
    'in a directory below it',
    (data: string, elsewhere: string) => {
      mkdirSync(join(data, 'state', 'deep'), { recursive: true });
      symlinkSync(elsewhere, join(data, 'state', 'deep', 'link'));
    },
  ],
])('a link that another user has made is not followed: %s', (_where, lay) => {
  const root = temporaryDirectory();
  const places = { ...windowsPlaces(ENV), data: join(root, 'evictd') };
  const install = (): unknown => windowsInstallSteps(request, { ...machine(undefined), places });
  expect(install).not.toThrow();
  lay(places.data, mkdtempSync(join(root, 'elsewhere-')));
  expect(install).toThrow(
    expect.objectContaining({ code: 'EVICTD_INSTALL_UNSAFE', message: expect.stringContaining(' is a link') as string }),
  );
});

describe('directories that only administrators may write to', () => {
  test.each<[rule: string, path: string, trusted: boolean]>([
    ['Program Files', 'C:\\Program Files\\evictd\\node.exe', true],
    ['the name in lower-case letters', 'c:\\program files\\evictd\\node.exe', true],
    ["Windows' own, in which all users may write", 'C:\\Windows\\Temp\\node.exe', false],
    ['a directory that begins alike', 'C:\\Program Files Extra\\node.exe', false],
    ["a user's home", 'C:\\Users\\ann\\AppData\\Roaming\\npm\\evictd.js', false],
    ['another drive', 'D:\\Program Files\\node.exe', false],
    ['the way back out', 'C:\\Program Files\\..\\Users\\node.exe', false],
  ])('%s', (_rule, path, trusted) => {
    const look = (): void => {
      requireTrustedPlace([path], windowsPlaces(ENV));
    };
    if (trusted) expect(look).not.toThrow();
    else expect(look).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_UNSAFE' }));
  });
});

test.each<[rule: string, word: string, line: string]>([
  ['blanks', 'C:\\Program Files\\a', '"C:\\Program Files\\a"'],
  ['nothing', '', '""'],
  ['a quote', 'a"b', '"a\\"b"'],
  ['backslashes before a quote', 'a\\"b', '"a\\\\\\"b"'],
  ['a backslash at the end', 'C:\\', '"C:\\\\"'],
])('an argument in a Windows command line: %s', (_rule, word, line) => {
  expect(windowsCommandLine([word])).toBe(line);
});
