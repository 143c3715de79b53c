/** The control file of the package: deb-control(5). */
export function control(version: string, installedBytes: number): string {
  return `Package: evictd
Version: ${version}
Architecture: amd64
Maintainer: ${process.env.DEB_MAINTAINER ?? 'evictd maintainers <maintainers@evictd.invalid>'}
Installed-Size: ${String(Math.ceil(installedBytes / 1024))}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 9), init-system-helpers
Recommends: systemd
Section: admin
Priority: optional
Description: node-pressure eviction monitor
 Keeps a machine alive when memory, disk, inodes or process ids run out: it
 is woken by the kernel's own signals and evicts the least important workload
 before the kernel's OOM killer picks an arbitrary process, and it records why.
 .
 As installed it watches, exports metrics and evicts nothing: workloads are
 named in /etc/evictd/config.yaml. It brings a Node.js of its own.
`;
}
