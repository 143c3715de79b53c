/** sun_path without its end: unix(7). Node cuts a longer path off without an error, and uses another file. */
export const MAX_SOCKET_BYTES = 107;
