package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The content of an answer, without data of the transport.
 *
 * @param usage null where the provider does not report it
 * @param message the provider's own message, to be sent again over the same wire
 */
record ReadAnswer(String text, List<Call> calls, Finish finish, @Nullable Tokens usage, @Nullable String modelAnswered,
        JsonNode message) {}
