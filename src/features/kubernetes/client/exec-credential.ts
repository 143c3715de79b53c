import { execFile, type ExecFileException } from 'node:child_process';
import { resolve } from 'node:path';
import { documentOf, items, member, textOf, timeOf, type Field } from '../../../kubernetes/document.js';

const WITHIN_MS = 10_000;
const MAX_BYTES = 1 << 20;
/** The time before a credential expires at which the program runs again: clocks differ. */
const EARLY_MS = 10_000;

interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Infinity: it has no expiry, and is used until the server refuses it. */
  readonly untilMs: number;
}

/**
 * Runs the credential plugin of a kubeconfig (client.authentication.k8s.io/v1 and v1beta1). Rejects with its error
 * output.
 *
 * @param directory  of the kubeconfig, for a command with a relative path
 */
export async function execCredential(
  exec: Field,
  cluster: { readonly server: string; readonly ca: string | undefined },
  directory: string,
): Promise<ExecCredential> {
  const command = textOf(member(exec, 'command'));
  const apiVersion = textOf(member(exec, 'apiVersion'));
  const clusterInfo = {
    server: cluster.server,
    ...(cluster.ca !== undefined && { 'certificate-authority-data': Buffer.from(cluster.ca, 'latin1').toString('base64') }),
  };
  const spec = { interactive: false, ...(member(exec, 'provideClusterInfo').value === true && { cluster: clusterInfo }) };
  const own = items(member(exec, 'env')).map((each) => [textOf(member(each, 'name')), textOf(member(each, 'value'))] as const);
  const output = await run(command.includes('/') ? resolve(directory, command) : command, items(member(exec, 'args')).map(textOf), {
    ...process.env,
    ...Object.fromEntries(own),
    KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
  });
  const given = credentialOf(output);
  if (given === undefined) throw new Error(`${command} gives no ExecCredential`); // which part is wrong may be a secret
  if (given.token === undefined && given.cert === undefined) throw new Error(`${command} gives neither a token nor a certificate`);
  return given;
}

/** undefined: the output is not an ExecCredential. */
function credentialOf(output: string): ExecCredential | undefined {
  try {
    const status = member(documentOf(JSON.parse(output)), 'status');
    const text = (key: string): string | undefined => textOf(member(status, key)) || undefined;
    const expiryNs = timeOf(member(status, 'expirationTimestamp'));
    const untilMs = expiryNs === undefined ? Infinity : Number(expiryNs / 1_000_000n) - EARLY_MS;
    return { token: text('token'), cert: text('clientCertificateData'), key: text('clientKeyData'), untilMs };
  } catch {
    return undefined;
  }
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((fulfil, reject) => {
    execFile(command, args, { env, timeout: WITHIN_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES }, (error, stdout, stderr) => {
      if (error === null) fulfil(stdout);
      else reject(new Error(`${command}: ${stderr.trim().slice(0, 500) || failureOf(error)}`));
    }).stdin?.end();
  });
}

/** The failure without the arguments, which Node adds to the message of a program that has failed. */
function failureOf({ code, signal, message }: ExecFileException): string {
  if (typeof code === 'string') return message;
  return signal ? `it was ended by ${signal}` : `it ended with status ${String(code)}`;
}
