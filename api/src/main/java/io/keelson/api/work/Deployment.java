package io.keelson.api.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A deployment at a provider.
 *
 * @param id id of the command that created it
 * @param strategy name of the strategy
 * @param mode simulated or real money
 * @param capital capital as a decimal
 * @param config configuration for the provider
 * @param status the provider's word for it
 * @param providerReference id at the provider; null before its response
 * @param adapter adapter that executed it, such as {@code simulated}
 * @param createdBy name of the principal that created it
 * @param runId run whose step created it; null for a request
 * @param createdAt time of its creation
 * @param commandId the command that ended it, in the response to that command
 * @param provider its state at the provider
 */
public record Deployment(String id, String strategy,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @OneOf({
                "paper", "live"}) String mode,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String capital,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable ObjectNode config, @Nullable String status,
        @Nullable String providerReference, String adapter, String createdBy, @Nullable String runId,
        Instant createdAt, @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String commandId,
        @Nullable ObjectNode provider) {

    /**
     * Creates a deployment.
     *
     * @param strategy the strategy to deploy
     * @param mode simulated or real money
     * @param capital capital as a decimal
     * @param config configuration of the strategy; at most 65,536 characters as JSON
     */
    @Request
    public record New(@Text(format = "name", pattern = "\\S", max = 200) String strategy,
            @Nullable @OneOf({"paper", "live"}) String mode, @Nullable @Ref("PositiveDecimal") String capital,
            @Nullable @MaxCharacters(65_536) ObjectNode config) {}
}
