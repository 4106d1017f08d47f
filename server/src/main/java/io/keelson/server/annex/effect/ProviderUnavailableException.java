package io.keelson.server.annex.effect;

/** The provider cannot be reached at the moment. */
final class ProviderUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    ProviderUnavailableException(String message) {
        super(message);
    }
}
