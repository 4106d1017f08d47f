package io.keelson.server.tenant.auth;

/** The result of creating, rotating or revoking a key. */
public sealed interface KeyResult {

    /** It was made. */
    record Issued(IssuedKey key) implements KeyResult {}

    /** The workspace has a principal of this name that is of another kind. */
    record OtherKind(Principal principal) implements KeyResult {}

    /** It is revoked, expired or was rotated before. */
    record NotActive(KeyRow row) implements KeyResult {}

    /** The workspace is closed or there is none. */
    record NoWorkspace() implements KeyResult {}

    /** The workspace has no such key. */
    record NoKey() implements KeyResult {}
}
