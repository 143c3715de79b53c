import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's `wine` is a script, which complains where its part for 32 bits is not installed. */
const PROGRAMS = ['/usr/lib/wine/wine64', '/usr/bin/wine64', '/usr/bin/wine'];

const RUN_LIMIT_MS = 900_000;

/** undefined: not installed. */
export function findWine(): string | undefined {
  return PROGRAMS.find((program) => existsSync(program));
}

export interface WineRun {
  /** undefined: it was ended, because it took too long. */
  readonly status: number | undefined;
  readonly output: string;
}

/** A Windows of one's own: its registry and drive C are in a directory, and its processes are no others'. */
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
      WINEDLLOVERRIDES: 'mscoree,mshtml=;winemenubuilder.exe=d', // or it would ask for what is not needed, and wait
    };
    this.#prepare();
  }

  /** Node asks for Windows 10, and ends with 216 where it finds an older one. */
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

  /** Standard streams are files: on a pipe of another system than its own Node ends with EBADF. */
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

  /** Ends whatever still runs there. */
  close(): void {
    spawnSync('wineserver', ['-k'], { stdio: 'ignore', env: this.#environment });
    spawnSync('wineserver', ['-w'], { stdio: 'ignore', env: this.#environment });
  }
}
