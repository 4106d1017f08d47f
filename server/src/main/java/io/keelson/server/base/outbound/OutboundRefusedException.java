package io.keelson.server.base.outbound;

import java.io.IOException;

/**
 * A request that policy or the protocol forbids, at any attempt: {@code URL_INVALID}, {@code HEADER_NOT_ALLOWED},
 * {@code OUTBOUND_ADDRESS_REFUSED}, {@code RESPONSE_TOO_LARGE}.
 */
public final class OutboundRefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String code;

    OutboundRefusedException(String code, String message) {
        super(message);
        this.code = code;
    }

    static OutboundRefusedException tooLarge(int maxBytes) {
        return new OutboundRefusedException("RESPONSE_TOO_LARGE", "the response has more than " + maxBytes + " bytes");
    }

    public String code() {
        return code;
    }
}
