import * as http from 'node:http';
import type { Config } from '../config/config.js';
import { normalCgroupPath } from '../core/workload/cgroup.js';
import { errnoName, EvictdError, InputError, UnavailableError, UsageError, messageOf } from '../errors.js';
import { controlSocketPath } from '../host/instance-lock.js';
import { selectHost } from '../host/select.js';

export interface ControlRequest {
  readonly method: 'GET' | 'POST';
  /** The path with the query. */
  readonly path: string;
  readonly body?: string;
  /** The answer is no longer waited for. */
  readonly ended?: AbortSignal | undefined;
}

const TIMEOUT_MS = 10_000;

/**
 * Asks the evictd that guards the configured node; if there is none, the one that watches it in a dry run.
 *
 * @returns the JSON of the answer; undefined: there is no such evictd
 * @throws EvictdError  what evictd answers, or that it cannot be asked
 */
export async function askEvictd(
  { node, runtimeDirectory }: Pick<Config, 'node' | 'runtimeDirectory'>,
  request: ControlRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<unknown> {
  const cgroup = node.cgroup === undefined ? undefined : normalCgroupPath(node.cgroup);
  for (const dryRun of [false, true]) {
    const socketPath = controlSocketPath(runtimeDirectory, selectHost().instanceName({ cgroup }, dryRun));
    const answer = await ask(socketPath, request, timeoutMs);
    if (answer !== undefined) return answer.json;
  }
  return undefined;
}

/** Like `askEvictd`, but throws if no evictd guards the node. @param code  of that error. @throws EvictdError */
export async function askRunning(
  config: Parameters<typeof askEvictd>[0],
  request: ControlRequest,
  code: `EVICTD_${string}_NO_INSTANCE`,
): Promise<unknown> {
  const answer = await askEvictd(config, request);
  if (answer !== undefined) return answer;
  if (selectHost().os === 'windows')
    throw new UnavailableError(code, 'while evictd runs, it takes no request on Windows but evictd reload and evictd resume', {
      hint: 'to stop evictions, set the thresholds of evictionHard to 0%, and run evictd reload',
    });
  throw new UnavailableError(code, 'no evictd guards this node', {
    hint: 'start evictd; if it runs with another node or runtimeDirectory, name its file with --config',
  });
}

/** undefined: no evictd listens there. */
async function ask(socketPath: string, request: ControlRequest, timeoutMs: number): Promise<{ readonly json: unknown } | undefined> {
  let answer: { readonly status: number; readonly text: string };
  try {
    answer = await exchange(socketPath, request, timeoutMs);
  } catch (cause) {
    const errno = errnoName(cause);
    if (errno === 'ENOENT' || errno === 'ECONNREFUSED') return undefined;
    const reason = messageOf(cause);
    if (errno === 'EACCES' || errno === 'EPERM')
      throw new EvictdError(
        'EVICTD_CONTROL_ACCESS',
        `only root and the members of controlSocket.group may ask evictd on ${socketPath}: permission denied`,
        {
          hint: `${selectHost().elevation.other}${request.method === 'GET' ? '; evictd check and evictd rank read the node without root' : ''}`,
        },
      );
    throw new UnavailableError('EVICTD_CONTROL_UNANSWERED', `evictd does not answer on ${socketPath}: ${reason}`, {
      hint: 'see journalctl -u evictd',
      cause,
    });
  }
  const json = JSON.parse(answer.text) as { readonly error?: { readonly code: string; readonly message: string; readonly hint?: string } };
  if (json.error === undefined) return { json };
  const { code, message, ...hint } = json.error;
  if (answer.status === 422) throw new InputError(code, message, { ...hint, isMissing: true });
  throw answer.status === 400 ? new UsageError(code, message, hint) : new UnavailableError(code, message, hint);
}

function exchange(
  socketPath: string,
  { method, path, body, ended }: ControlRequest,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ socketPath, method, path, agent: false, timeout: timeoutMs, signal: ended }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject).on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${String(timeoutMs / 1_000)} s`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
