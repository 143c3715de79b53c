/** `process.kill` of one process: a pid of 0, which systemd gives for a service that is not running, would be the group of the tests themselves. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new Error(`${String(pid)} is no process to be sent ${signal}`);
  process.kill(pid, signal);
}
