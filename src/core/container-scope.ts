/** A container of Docker's or Podman's, as its cgroup is called. */
export interface ContainerScope {
  readonly engine: 'docker' | 'podman';
  /** 64 hexadecimal digits. */
  readonly id: string;
}

/**
 * The container that a cgroup was made for, by its name: by systemd's driver `docker-ID.scope` (moby, daemon/oci_linux.go, v25) and `libpod-ID.scope` (podman, libpod/oci_conmon, v4), by the cgroupfs driver
 * `docker/ID` and `libpod-ID`. undefined: for none, or for a part of one.
 */
export function containerScope(path: string): ContainerScope | undefined {
  const [, parent, prefix, id] = /(?:^|\/)([^/]*)\/(?:(docker-|libpod-)?)([0-9a-f]{64})(?:\.scope)?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (prefix === 'libpod-') return { engine: 'podman', id };
  return prefix === 'docker-' || parent === 'docker' ? { engine: 'docker', id } : undefined;
}
