// The used part of the library, which declares types for its whole-bus interface only.

declare module 'dbus-native/lib/handshake.js' {
  import type { Duplex } from 'node:stream';
  /**
   * The client's D-Bus authentication up to BEGIN; messages follow on the stream. Calls back once, or never if the
   * stream ends before.
   */
  function authenticate(
    stream: Duplex,
    options: { authMethods: readonly string[] },
    done: (error: Error | null, guid?: string) => void,
  ): void;
  export = authenticate;
}

declare module 'dbus-native/lib/message.js' {
  export interface DBusMessage {
    /** 1 call, 2 return, 3 error, 4 signal. */
    type?: number;
    serial?: number;
    replySerial?: number;
    path?: string;
    interface?: string;
    member?: string;
    destination?: string;
    errorName?: string;
    signature?: string;
    body?: unknown[];
  }
  /** `message` must have a serial. Throws where the body does not fit the signature. */
  export function marshall(message: DBusMessage): Buffer;
  /** One whole message. Throws for anything else. */
  export function unmarshall(bytes: Buffer, options: { returnBigInt: boolean; plainValues: boolean }): DBusMessage;
}
