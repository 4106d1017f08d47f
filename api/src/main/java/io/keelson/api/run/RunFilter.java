package io.keelson.api.run;

import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Runs to which all members apply; at least one member.
 *
 * @param state runs in this state
 * @param stateType runs of this type of state
 * @param tags runs with all these tags
 * @param name runs of this name
 * @param text text contained in name or goal, case-insensitive
 * @param createdAfter runs created then or later
 * @param createdBefore runs created earlier
 * @param recipeId runs of this recipe
 * @param trigger runs with this trigger
 * @param externalId runs with this external id
 * @param errorCode runs that failed with this code
 * @param ids these runs
 */
@Request
public record RunFilter(@Nullable @Ref("RunState") String state, @Nullable @Ref("StateType") String stateType,
        @Nullable @Size(min = 1, max = 10) List<@Text(pattern = "\\S", max = 500) String> tags,
        @Nullable @Text(max = 500) String name, @Nullable @Text(max = 500) String text,
        @Nullable Instant createdAfter, @Nullable Instant createdBefore, @Nullable @Ref("RecipeId") UUID recipeId,
        @Nullable @Text(max = 500) String trigger, @Nullable @Text(max = 500) String externalId,
        @Nullable @Text(max = 500) String errorCode, @Nullable @Size(min = 1, max = 1000) List<UUID> ids) {}
