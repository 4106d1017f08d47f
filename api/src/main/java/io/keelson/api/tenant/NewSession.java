package io.keelson.api.tenant;

import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Signs a browser in.
 *
 * @param code of {@code POST /sessions/links}; absent to sign in by the API key of this request
 * @param scopes without a code the scopes of the session; all scopes of the API key if absent
 */
@Request
public record NewSession(@Nullable @Text(max = 100) String code,
        @Nullable @Size(max = 20) List<@Ref("Scope") String> scopes) {

    /** Without the code. */
    @Override
    public String toString() {
        return "NewSession[" + scopes + "]";
    }
}
