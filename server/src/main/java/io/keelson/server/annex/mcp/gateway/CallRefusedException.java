package io.keelson.server.annex.mcp.gateway;

import io.keelson.server.api.http.gateway.GatewayError;

/** A refusal with a code of JSON-RPC of its own. */
final class CallRefusedException extends GatewayError {
    private static final long serialVersionUID = 1L;

    private final int rpcCode;

    /** @param code stable, in lower case */
    CallRefusedException(int status, int rpcCode, String code, String message) {
        super(status, code, message);
        this.rpcCode = rpcCode;
    }

    int rpcCode() {
        return rpcCode;
    }
}
