/** systemd's bus name and interface prefix (org.freedesktop.systemd1(5)). */
export const SYSTEMD = 'org.freedesktop.systemd1';

/** A call to its manager. */
export const MANAGER = { path: '/org/freedesktop/systemd1', interface: `${SYSTEMD}.Manager`, destination: SYSTEMD };

export const PROPERTIES = 'org.freedesktop.DBus.Properties';
