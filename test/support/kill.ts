/**
 * `process.kill`, but not of pid 0: systemd reports 0 for a stopped service, and kill(2) takes it for the own group.
 */
export function kill(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new Error(`${String(pid)} is no process to be sent ${signal}`);
  process.kill(pid, signal);
}
