import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { DocumentError, messageOf } from '../../../errors.js';
import { documentOf, isAbsent, items, member, textOf, type Field } from '../../../kubernetes/document.js';
import { ACCESS_TTL_MS, unusable, type Access, type ReadAccess } from './access.js';
import { execCredential } from './exec-credential.js';

const HINT = 'kubectl --kubeconfig FILE get pods must work';
/** What client-go has and evictd has not. */
const UNSUPPORTED = {
  cluster: ['proxy-url'],
  user: ['username', 'password', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'],
} as const;

/** The current context of a kubeconfig. Paths in it are relative to it. The files that it names are read each time. */
export function kubeconfigAccess(path: string): ReadAccess {
  return async () => {
    try {
      return await readKubeconfig(path);
    } catch (error) {
      // Without the error as its cause: the log has all that an error has, which may be a secret here.
      throw unusable(`kubeconfig ${path}: ${reasonOf(error)}`, HINT);
    }
  };
}

/** The reason without the words of the file that errors have, which may be a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof DocumentError) return `${error.path || 'the document'} has a value of a wrong type`;
  if (error instanceof YAMLParseError) return `it is not YAML at line ${String(error.linePos?.[0].line)}`;
  if (error instanceof ReferenceError) return 'it has a wrong alias';
  return messageOf(error);
}

async function readKubeconfig(path: string): Promise<Access> {
  const config = documentOf(parse(await readFile(path, 'utf8'), { logLevel: 'error' }));
  const context = named(config, 'contexts', 'context', textOf(member(config, 'current-context')));
  const cluster = named(config, 'clusters', 'cluster', textOf(member(context, 'cluster')));
  const userName = textOf(member(context, 'user'));
  const user = userName === '' ? documentOf({}) : named(config, 'users', 'user', userName);
  refuseUnsupported(cluster, UNSUPPORTED.cluster);
  refuseUnsupported(user, UNSUPPORTED.user);
  /** The content of KEY-data, which wins, or of the file that KEY names. */
  const content = async (field: Field, key: string): Promise<string | undefined> => {
    const data = textOf(member(field, `${key}-data`));
    if (data !== '') return Buffer.from(data, 'base64').toString('latin1');
    const file = textOf(member(field, key));
    return file === '' ? undefined : readFile(resolve(dirname(path), file), 'latin1');
  };
  const server = serverOf(member(cluster, 'server'));
  const [ca, cert, key] = await Promise.all([
    content(cluster, 'certificate-authority'),
    content(user, 'client-certificate'),
    content(user, 'client-key'),
  ]);
  const exec = member(user, 'exec');
  const given = isAbsent(exec) ? undefined : await execCredential(exec, { server: server.href, ca }, dirname(path));
  const token = given?.token ?? (await tokenOf(user, path));
  const servername = textOf(member(cluster, 'tls-server-name'));
  const identity = given?.cert === undefined ? { cert, key } : { cert: given.cert, key: given.key };
  return {
    server,
    tls: {
      ...(ca !== undefined && { ca }),
      ...(identity.cert !== undefined && { cert: identity.cert, key: identity.key }),
      ...(servername !== '' && { servername }),
      ...(member(cluster, 'insecure-skip-tls-verify').value === true && { rejectUnauthorized: false }),
    },
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    untilMs: given === undefined ? Date.now() + ACCESS_TTL_MS : given.untilMs,
  };
}

/** The file wins, as in client-go: it is newer. */
async function tokenOf(user: Field, path: string): Promise<string | undefined> {
  const file = textOf(member(user, 'tokenFile'));
  const token = file === '' ? textOf(member(user, 'token')) : (await readFile(resolve(dirname(path), file), 'utf8')).trim();
  return token === '' ? undefined : token;
}

function named(config: Field, list: string, kind: string, name: string): Field {
  const entry = items(member(config, list)).find((each) => textOf(member(each, 'name')) === name);
  if (entry === undefined) throw new Error(name === '' ? `it has no current ${kind}` : `${list} has no ${JSON.stringify(name)}`);
  return member(entry, kind);
}

function serverOf(field: Field): URL {
  const text = textOf(field);
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') throw new Error(`${field.path} is not an https URL`);
  return new URL(text);
}

function refuseUnsupported(field: Field, keys: readonly string[]): void {
  const key = keys.find((each) => !isAbsent(member(field, each)));
  if (key !== undefined) throw new Error(`${member(field, key).path} is not supported`);
}
