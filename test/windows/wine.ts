import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Not `wine`, in Debian a script that warns if the 32-bit part is not installed. */
const PROGRAMS = ['/usr/lib/wine/wine64', '/usr/bin/wine64', '/usr/bin/wine'];

const RUN_LIMIT_MS = 900_000;

/** undefined: not installed. */
export function findWine(): string | undefined {
  return PROGRAMS.find((program) => existsSync(program));
}

export interface WineRun {
  /** undefined: ended after the time limit. */
  readonly status: number | undefined;
  readonly output: string;
}

/** A separate Windows: registry and drive C are in a directory, with their own processes. */
export class Wine {
  readonly #program: string;
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(program: string, directory: string) {
    this.#program = program;
    this.#directory = directory;
    const { DISPLAY: _none, ...inherited } = process.env;
    this.#environment = {
      ...inherited,
      WINEPREFIX: join(directory, 'prefix'),
      WINEARCH: 'win64',
      WINEDEBUG: '-all',
      WINEDLLOVERRIDES: 'mscoree,mshtml=;winemenubuilder.exe=d', // otherwise Wine asks to install Mono and Gecko, and waits
    };
    this.#prepare();
  }

  /** Node needs Windows 10, and exits with 216 on an older one. */
  #prepare(): void {
    const prepared = join(this.#directory, 'prepared');
    if (existsSync(prepared)) return;
    rmSync(join(this.#directory, 'prefix'), { recursive: true, force: true });
    mkdirSync(this.#directory, { recursive: true });
    const { status, output } = this.run('winecfg', ['-v', 'win10']);
    if (status !== 0) throw new Error(`winecfg: ${String(status)}\n${output}`);
    this.close();
    writeFileSync(prepared, '');
  }

  /** Standard streams are files: on a Linux pipe node.exe ends with EBADF. */
  run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): WineRun {
    const log = join(this.#directory, 'output');
    const output = openSync(log, 'w');
    try {
      const { status, error } = spawnSync(this.#program, [program, ...args], {
        stdio: ['ignore', output, output],
        env: { ...this.#environment, ...environment },
        timeout: RUN_LIMIT_MS,
        killSignal: 'SIGKILL',
      });
      if (error && status !== null) throw error;
      return { status: status ?? undefined, output: readFileSync(log, 'utf8') };
    } finally {
      closeSync(output);
    }
  }

  /** Ends all processes there. */
  close(): void {
    spawnSync('wineserver', ['-k'], { stdio: 'ignore', env: this.#environment });
    spawnSync('wineserver', ['-w'], { stdio: 'ignore', env: this.#environment });
  }
}
