package io.keelson.server.effect;

/** The other side cannot be asked at the moment. */
public final class ProviderUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    ProviderUnavailableException(String message) {
        super(message);
    }
}
