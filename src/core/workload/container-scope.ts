/** A container of Docker or Podman, from the name of its cgroup. */
export interface ContainerScope {
  readonly engine: 'docker' | 'podman';
  /** 64 hexadecimal digits. */
  readonly id: string;
}

/**
 * The container of a cgroup, from its name: `docker-ID.scope` (moby, daemon/oci_linux.go, v25) and `libpod-ID.scope`
 * (podman, libpod/oci_conmon, v4) with systemd's driver, `docker/ID` and `libpod-ID` with the cgroupfs driver.
 * undefined: no container, or a part of one.
 */
export function containerScope(path: string): ContainerScope | undefined {
  const [, parent, prefix, id] = /(?:^|\/)([^/]*)\/(?:(docker-|libpod-)?)([0-9a-f]{64})(?:\.scope)?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (prefix === 'libpod-') return { engine: 'podman', id };
  return prefix === 'docker-' || parent === 'docker' ? { engine: 'docker', id } : undefined;
}
