import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, type Client, type GrpcObject, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { memoryController } from '../cgroup.js';
import { eventually } from '../eventually.js';
import { SLOWNESS } from '../slowness.js';

const IMAGE = 'evictd.test/busybox:1';

/** Whether containerd can run here: packages containerd, runc and busybox-static, and a filesystem for layers. */
export const hasContainerd =
  process.getuid?.() === 0 &&
  memoryController() !== undefined &&
  ['containerd', 'runc', 'ctr'].every((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0) &&
  existsSync('/bin/busybox') &&
  overlayWorks();

/** In a container there may be none in another. */
function overlayWorks(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-overlay-'));
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(directory, name));
  for (const each of [lower, upper, work, merged]) mkdirSync(String(each));
  const layers = `lowerdir=${String(lower)},upperdir=${String(upper)},workdir=${String(work)}`;
  const works = spawnSync('mount', ['-t', 'overlay', '-o', layers, 'evictd-test', String(merged)]).status === 0;
  if (works) spawnSync('umount', [String(merged)]);
  rmSync(directory, { recursive: true, force: true });
  return works;
}

export interface PodOptions {
  readonly name: string;
  /** Its own is below it. */
  readonly cgroup: string;
  readonly namespace?: string;
  /** The pod has a cgroup of its own, as with a kubelet. */
  readonly ownCgroup?: boolean;
  /** Between `cgroup` and its own: '/kubepods'. */
  readonly below?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Shell scripts by container name. */
  readonly containers: Readonly<Record<string, string>>;
  /** By default a new one. */
  readonly uid?: string;
}

export interface Pod {
  readonly id: string;
  readonly uid: string;
  readonly containers: Readonly<Record<string, string>>;
  /** Directory of container logs, NAME.log each. */
  readonly logs: string;
}

/** A containerd for the test, with its files in a directory below /tmp and pod cgroups below those of the test. */
export class Containerd {
  readonly directory = mkdtempSync(join(tmpdir(), 'evictd-test-containerd-'));
  readonly socket = join(this.directory, 'containerd.sock');
  readonly endpoint = `unix://${this.socket}`;
  /** What pods were given as theirs. */
  readonly #cgroups = new Set<string>();
  #daemon: ChildProcess | undefined;
  #client: Client | undefined;

  /**
   * @param root  directory of images and layers, instead of its own
   * @param layers  directory of layers and unpacked images, instead of there
   */
  async start(root = `${this.directory}/root`, layers?: string): Promise<this> {
    const config = [
      'version = 2',
      `root = "${root}"`,
      `state = "${this.directory}/state"`,
      '[grpc]',
      ` address = "${this.socket}"`,
      '[plugins."io.containerd.grpc.v1.cri"]',
      ` sandbox_image = "${IMAGE}"`,
      ' stats_collect_period = 1', // seconds
      ' restrict_oom_score_adj = true', // cannot be lowered without CAP_SYS_RESOURCE
      ...(layers === undefined ? [] : ['[plugins."io.containerd.snapshotter.v1.overlayfs"]', ` root_path = "${layers}"`]),
    ];
    writeFileSync(join(this.directory, 'config.toml'), config.join('\n'));
    await this.run();
    this.image(IMAGE);
    return this;
  }

  /** Adds an image with its own name and id and this much incompressible data. */
  image(name: string, mib = 0): void {
    const directory = mkdtempSync(join(this.directory, 'image-'));
    makeImage(directory, name, mib);
    this.#ctr('images', 'import', join(directory, 'image.tar'));
  }

  /** Names of images of the tests. */
  images(): string[] {
    return this.#ctr('images', 'list', '--quiet')
      .split('\n')
      .filter((name) => name.startsWith('evictd.test/'));
  }

  /** Ids, ended ones included. */
  containers(): string[] {
    return this.#ctr('containers', 'list', '--quiet').split('\n').filter(Boolean);
  }

  /** Ids of running containers. */
  running(): string[] {
    return this.#ctr('tasks', 'list')
      .split('\n')
      .flatMap((line) => (line.endsWith('RUNNING') ? (line.split(' ')[0] ?? []) : []));
  }

  /** Starts it, also after a stop: containers run on without it. */
  async run(): Promise<void> {
    const log = openSync(join(this.directory, 'log'), 'a');
    this.#daemon = spawn('containerd', ['--config', join(this.directory, 'config.toml')], { stdio: ['ignore', log, log] });
    closeSync(log);
    const patience = { ms: 60_000 };
    await eventually('containerd answers', () => spawnSync('ctr', ['--address', this.socket, 'version']).status === 0, patience);
    const answers = (): Promise<boolean> =>
      this.pods().then(
        () => true,
        () => false,
      );
    await eventually('its CRI plugin answers', answers, patience);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = undefined;
    if (daemon?.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill(signal);
    await once(daemon, 'exit');
  }

  async pod({
    name,
    cgroup,
    namespace = 'default',
    ownCgroup = false,
    below = '',
    labels = {},
    annotations = {},
    containers,
    uid = `${randomBytes(4).toString('hex')}-test`,
  }: PodOptions): Promise<Pod> {
    this.#cgroups.add(cgroup);
    const logs = `${this.directory}/logs/${uid}`;
    const config = {
      metadata: { name, uid, namespace },
      labels,
      annotations,
      log_directory: logs,
      linux: {
        cgroup_parent: ownCgroup ? `${cgroup}${below}/pod${uid}` : cgroup,
        security_context: { namespace_options: { network: 2, pid: 1 } },
      },
    };
    const { pod_sandbox_id: id } = (await this.#ask('RunPodSandbox', { config })) as { pod_sandbox_id: string };
    const started: Record<string, string> = {};
    for (const [container, script] of Object.entries(containers)) {
      const { container_id } = (await this.#ask('CreateContainer', {
        pod_sandbox_id: id,
        config: {
          metadata: { name: container },
          image: { image: IMAGE },
          command: ['/bin/sh', '-c', script],
          log_path: `${container}.log`,
          linux: { security_context: { namespace_options: { network: 2, pid: 1 } } },
        },
        sandbox_config: config,
      })) as { container_id: string };
      await this.#ask('StartContainer', { container_id });
      started[container] = container_id;
    }
    return { id, uid, containers: started, logs };
  }

  /** As a kubelet stops a container: SIGTERM, then SIGKILL. */
  async stopContainer(container_id: string, graceSeconds: number): Promise<void> {
    await this.#ask('StopContainer', { container_id, timeout: graceSeconds });
  }

  /** Removes a pod; its processes get SIGKILL. */
  async removePod(pod_sandbox_id: string): Promise<void> {
    const removed = async (): Promise<true> => {
      await this.#ask('StopPodSandbox', { pod_sandbox_id });
      await this.#ask('RemovePodSandbox', { pod_sandbox_id });
      return true;
    };
    // containerd learns of killed processes slightly later.
    await eventually(`pod ${pod_sandbox_id} is removed`, () => removed().catch(() => false), { ms: 60_000 });
  }

  /** Process ids of the shims of its pods. */
  shims(): readonly string[] {
    const numbers = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid));
    return numbers.filter((pid) => linesOf(`/proc/${pid}/cmdline`, '\0').includes(this.socket));
  }

  /** Ids. */
  async pods(): Promise<string[]> {
    const { items = [] } = (await this.#ask('ListPodSandbox', {})) as { items?: { pod_sandbox_id: string }[] };
    return items.map(({ pod_sandbox_id }) => pod_sandbox_id);
  }

  /** Every pod. */
  async clear(): Promise<void> {
    if (this.#daemon === undefined) await this.run();
    for (const pod of await this.pods()) await this.removePod(pod);
  }

  /** What the end of the machine leaves: its directory of images, containers and layers. */
  async loseAllButDisk(): Promise<void> {
    await this.stop('SIGKILL');
    const shims = this.shims();
    const started = shims.flatMap((pid) => linesOf(`/proc/${pid}/task/${pid}/children`, ' '));
    for (const pid of [...shims, ...started].filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
    const mounts = linesOf('/proc/self/mountinfo', '\n').map((line) => line.split(' ')[4] ?? '');
    for (const path of mounts.filter((mount) => mount.startsWith(`${this.directory}/`)).reverse()) spawnSync('umount', ['--lazy', path]);
    rmSync(join(this.directory, 'state'), { recursive: true, force: true });
    this.#removeCgroups('-mindepth', '1');
  }

  /** Ends containerd with everything that it has started, and removes its directory. */
  async remove(): Promise<void> {
    try {
      await this.clear();
    } finally {
      await this.stop();
      this.#client?.close();
      rmSync(this.directory, { recursive: true, force: true });
      this.#removeCgroups();
    }
  }

  #removeCgroups(...which: readonly string[]): void {
    for (const mount of new Set(controllers())) {
      for (const cgroup of this.#cgroups) spawnSync('find', [`${mount}${cgroup}`, ...which, '-depth', '-type', 'd', '-delete']);
    }
  }

  #ctr(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('ctr', ['--address', this.socket, '--namespace', 'k8s.io', ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  #ask(method: string, request: object): Promise<unknown> {
    const [Creation] = servicesIn('test/support/cri/creation.proto');
    if (Creation === undefined) throw new Error('creation.proto has no service');
    this.#client ??= new Creation(this.endpoint, credentials.createInsecure());
    const client = this.#client as unknown as Record<
      string,
      (request: object, options: object, done: (error: Error | null, answer: unknown) => void) => void
    >;
    return new Promise((resolve, reject) => {
      client[method]?.(request, { deadline: Date.now() + 60_000 * SLOWNESS }, (error, answer) => {
        if (error) reject(error);
        else resolve(answer);
      });
    });
  }
}

/** The services of a .proto file, by a codec other than that of evictd. */
export function servicesIn(proto: string): readonly ServiceClientConstructor[] {
  const { runtime } = loadPackageDefinition(loadSync(proto, { keepCase: true, longs: Number, defaults: true }));
  return Object.values((runtime as { v1: GrpcObject }).v1).filter((found): found is ServiceClientConstructor => 'service' in found);
}

/** Empty if the process has ended. */
function linesOf(path: string, separator: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split(separator);
  } catch {
    return [];
  }
}

function controllers(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(' ')[4] ?? '');
}

/** An OCI image with only busybox, used for pause containers, too. */
function makeImage(directory: string, name: string, mib: number): void {
  const [root, image] = [join(directory, 'rootfs'), join(directory, 'image')];
  const blobs = join(image, 'blobs/sha256');
  mkdirSync(join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'tmp'));
  mkdirSync(blobs, { recursive: true });
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
  chmodSync(join(root, 'bin/busybox'), 0o755);
  if (mib > 0) writeFileSync(join(root, 'ballast'), randomBytes(mib << 20));
  for (const applet of ['sh', 'sleep', 'cat', 'dd', 'tail', 'head', 'trap']) symlinkSync('busybox', join(root, 'bin', applet));
  const blob = (content: Buffer, mediaType: string): object => {
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(blobs, digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const tar = (from: string): Buffer => spawnSync('tar', ['--create', '--directory', from, '.'], { maxBuffer: 128 << 20 }).stdout;
  const layer = tar(root);
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Env: ['PATH=/bin', `IMAGE=${name}`], Cmd: ['/bin/sleep', '1000000'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  };
  const manifest = {
    schemaVersion: 2,
    config: blob(json(config), 'application/vnd.oci.image.config.v1+json'),
    layers: [blob(layer, 'application/vnd.oci.image.layer.v1.tar')],
  };
  const listed = blob(json(manifest), 'application/vnd.oci.image.manifest.v1+json');
  const index = { schemaVersion: 2, manifests: [{ ...listed, annotations: { 'io.containerd.image.name': name } }] };
  writeFileSync(join(image, 'index.json'), json(index));
  writeFileSync(join(image, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(directory, 'image.tar'), tar(image));
}
