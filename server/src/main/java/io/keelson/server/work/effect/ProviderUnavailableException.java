package io.keelson.server.work.effect;

/** The provider cannot be reached at the moment. */
public final class ProviderUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    ProviderUnavailableException(String message) {
        super(message);
    }
}
