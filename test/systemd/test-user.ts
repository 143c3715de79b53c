import { spawnSync } from 'node:child_process';
import { systemd } from '../support/systemd.js';

/** A user whose manager runs. `remove` ends all that it has. */
export class TestUser {
  readonly #uid: string;
  /** Path of the manager's cgroup. */
  readonly manager: string;

  constructor(uid: number) {
    this.#uid = String(uid);
    this.manager = `/user.slice/user-${this.#uid}.slice/user@${this.#uid}.service`;
    systemd('useradd', '--no-create-home', '--uid', this.#uid, 'evictd-test');
    systemd('systemctl', 'start', `user@${this.#uid}.service`);
  }

  /** The output of a command of the user. */
  as(...command: readonly string[]): string {
    return systemd('runuser', '-u', 'evictd-test', '--', 'env', `XDG_RUNTIME_DIR=/run/user/${this.#uid}`, ...command);
  }

  /** Starts a service of the user's manager. */
  run(unit: string, properties: Readonly<Record<string, string>>, ...command: readonly string[]): void {
    const settings = Object.entries(properties).map(([key, value]) =>
      key === 'Slice' ? `--slice=${value}` : `--property=${key}=${value}`,
    );
    this.as('systemd-run', '--user', '--quiet', `--unit=${unit}`, ...settings, ...command);
  }

  isActive(unit: string): boolean {
    return this.as('systemctl', '--user', 'show', '--value', '--property=ActiveState', unit) === 'active';
  }

  remove(): void {
    spawnSync('systemctl', ['stop', `user@${this.#uid}.service`]);
    systemd('userdel', 'evictd-test');
  }
}
