/** What keeps the name of a container. `containerd`, `cri-o`: those of CRI. */
export type ContainerEngine = 'docker' | 'podman' | 'nerdctl' | 'containerd' | 'cri-o';

/** A container, from the name of its cgroup. */
export interface ContainerScope {
  /** Which may be its engine, the likeliest first: an id alone does not say. */
  readonly engines: readonly ContainerEngine[];
  /** 64 hexadecimal digits. */
  readonly id: string;
}

/**
 * The container of a cgroup: `docker-ID.scope` (moby, daemon/oci_linux.go, v25), `libpod-ID.scope` (podman,
 * libpod/oci_conmon, v4), `libpod-payload-ID` (`--cgroups=split`), `nerdctl-ID.scope`, `cri-containerd-ID.scope`
 * (containerd 1.7, pkg/cri/server/helpers.go) and `crio-ID.scope` (CRI-O 1.30, internal/config/cgmgr) with systemd's
 * driver. With the cgroupfs driver `docker/ID`, `libpod-ID` and `crio-ID`, elsewhere the id alone, or `SLICE:PREFIX:ID`
 * where a runtime takes the name that is meant for systemd. undefined: no container, or a part of one.
 */
export function containerScope(path: string): ContainerScope | undefined {
  const [, parent, before = '', id] = /(?:^|\/)([^/]*)\/([^/]*?)([0-9a-f]{64})(?:\.scope)?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  const prefix = before.replace(/^.*:(?=[^:]+:$)/, '').replace(/[-:]$/, '');
  const engines = ENGINES.get(prefix === '' && parent === 'docker' ? parent : prefix);
  return engines && { engines, id };
}

const ENGINES: ReadonlyMap<string, readonly ContainerEngine[]> = new Map([
  ['docker', ['docker']],
  ['libpod', ['podman']],
  ['libpod-payload', ['podman']],
  ['nerdctl', ['nerdctl']],
  ['cri-containerd', ['containerd']],
  ['crio', ['cri-o']],
  ['', ['docker', 'containerd']],
]);

/**
 * The names that a cgroup's name has in it: of a container of LXC, LXD and Incus (`lxc.payload.web`), of a machine of
 * systemd-machined (`machine-web.scope`), of a guest of libvirt (`machine-qemu\x2d1\x2dweb.scope`).
 */
export function machineNames(path: string): readonly string[] {
  const [, payload] = /\/lxc\.payload\.([^/]+)$/.exec(path) ?? [];
  if (payload !== undefined) return [payload];
  const [, escaped] = /\/machine-([^/]+)\.scope$/.exec(path) ?? [];
  if (escaped === undefined) return [];
  const machine = escaped.replace(/\\x([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  const [, guest] = /^(?:qemu|lxc)-\d+-(.+)$/.exec(machine) ?? [];
  return guest === undefined ? [machine] : [machine, guest];
}
