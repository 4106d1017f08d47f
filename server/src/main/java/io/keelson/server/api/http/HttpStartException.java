package io.keelson.server.api.http;

/** The API cannot be served where it should be. The message says what to do. */
public final class HttpStartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Stable names: scripts and documentation may rely on them. */
    public enum Code {
        /** Another program listens at the port. */
        PORT_IN_USE,
        /** The address is not this machine's, or the port is not for us. */
        ADDRESS_NOT_USABLE
    }

    private final Code code;
    private final int port;

    HttpStartException(Code code, int port, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.port = port;
    }

    public Code code() {
        return code;
    }

    public int port() {
        return port;
    }
}
