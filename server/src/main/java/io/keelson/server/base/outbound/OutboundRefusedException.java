package io.keelson.server.base.outbound;

import java.io.IOException;

/**
 * A request that policy or the protocol forbids, at any attempt: {@code URL_INVALID}, {@code HEADER_NOT_ALLOWED},
 * {@code OUTBOUND_ADDRESS_REFUSED}, {@code RESPONSE_TOO_LARGE}.
 */
public final class OutboundRefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private static final String RESPONSE_TOO_LARGE = "RESPONSE_TOO_LARGE";

    private final String code;

    OutboundRefusedException(String code, String message) {
        super(message);
        this.code = code;
    }

    static OutboundRefusedException tooLarge(int maxBytes) {
        return new OutboundRefusedException(RESPONSE_TOO_LARGE, "the response has more than " + maxBytes + " bytes");
    }

    /** Whether a response has more bytes than its request allows: also as a cause of the failure. */
    public static boolean isTooLarge(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof OutboundRefusedException refused && refused.code.equals(RESPONSE_TOO_LARGE)) {
                return true;
            }
        }
        return false;
    }

    public String code() {
        return code;
    }
}
