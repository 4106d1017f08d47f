package io.keelson.server.annex.mcp.gateway;

/** A request of a program is refused: by a status of HTTP, with an error of JSON-RPC. */
final class CallRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final int rpcCode;
    private final String code;

    /** @param code stable, in lower case */
    CallRefusedException(int status, int rpcCode, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.rpcCode = rpcCode;
        this.code = code;
    }

    int status() {
        return status;
    }

    int rpcCode() {
        return rpcCode;
    }

    String code() {
        return code;
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
