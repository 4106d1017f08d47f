package io.keelson.api.worker;

import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A proposal to people.
 *
 * @param title title for people
 * @param body text for people
 * @param data any JSON, at most 65,536 characters
 * @param expiresInSeconds time after which the proposal expires; never if absent
 */
@Request
public record NewProposal(@Ref("Name") String title, @Nullable @Text(max = 20_000) String body,
        @Nullable @MaxCharacters(65_536) JsonNode data,
        @Nullable @Range(min = 1, max = 31_536_000) Long expiresInSeconds) {}
