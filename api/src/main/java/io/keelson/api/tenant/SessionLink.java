package io.keelson.api.tenant;

import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A link with which one browser signs in, once.
 *
 * @param code for {@code POST /sessions}
 * @param url the page that signs in with the code
 * @param expiresAt a minute after its creation
 */
public record SessionLink(String code, String url, Instant expiresAt) {

    /** Without the code. */
    @Override
    public String toString() {
        return "SessionLink[" + expiresAt + "]";
    }

    /**
     * Creates a link.
     *
     * @param scopes scopes of the session; all scopes of the caller if absent
     */
    @Request
    public record New(@Nullable @Size(max = 20) List<@Ref("Scope") String> scopes) {}
}
