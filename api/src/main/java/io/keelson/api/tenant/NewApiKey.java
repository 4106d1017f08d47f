package io.keelson.api.tenant;

import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates an API key.
 *
 * @param name purpose of the key
 * @param principal name of the principal that acts with the key: 1 to 100 letters, digits and . _ @ + -, the first a letter or
 *     digit; the key's name if absent. Created if the workspace does not have it
 * @param principalKind kind of the principal; if absent, that of the existing principal, or {@code service}
 * @param scopes scopes of the key
 * @param expiresInSeconds lifetime of the key; unlimited if absent
 */
@Request
public record NewApiKey(@Text(format = "name", pattern = "\\S", max = 200) String name,
        @Nullable @Text(pattern = "^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$") String principal,
        @Nullable @OneOf({"person", "service"}) String principalKind,
        @Size(min = 1, max = 8) List<@Ref("Scope") String> scopes,
        @Nullable @Range(min = 1, max = 316_224_000) Long expiresInSeconds) {}
