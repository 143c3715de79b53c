import { spawn, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** A scope of systemd with one program, as container runtimes make them. Ended after the test. */
export class ScopeUnit {
  readonly name: string;

  constructor(name: string, settings: Readonly<Record<string, string>>, ...command: readonly string[]) {
    this.name = name;
    const properties = Object.entries(settings).map(([key, value]) => `--property=${key}=${value}`);
    spawn('systemd-run', ['--scope', '--quiet', `--unit=${name}`, ...properties, ...command], { stdio: 'ignore' });
    onTestFinished(() => {
      spawnSync('systemctl', ['kill', '--signal=SIGKILL', name]);
      spawnSync('systemctl', ['stop', name]);
      spawnSync('systemctl', ['reset-failed', name]);
    });
  }
}
