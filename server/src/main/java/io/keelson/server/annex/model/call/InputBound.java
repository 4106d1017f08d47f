package io.keelson.server.annex.model.call;

import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.base.json.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An upper bound of a request's input tokens, by the bytes of its JSON form. */
final class InputBound {

    private InputBound() {}

    /**
     * At most the context of the model: its provider refuses more.
     *
     * @param last tokens of the last request to the same model; null if absent
     * @param fresh index of the first message that is new since the last request and its answer
     */
    static long of(ModelRequest request, ConfiguredModel model, @Nullable Tokens last, int fresh) {
        double bytesPerToken = model.bytesPerToken().doubleValue();
        long bound = WorstCase.maxInput(0, 0, bytes(request), bytesPerToken);
        if (last != null) {
            List<?> added = request.messages().subList(fresh, request.messages().size());
            bound = Math.min(bound, WorstCase.maxInput(last.total() - last.output(), last.output(), bytes(added),
                    bytesPerToken));
        }
        return Math.min(bound, model.contextTokens());
    }

    private static long bytes(Object value) {
        return Json.MAPPER.writeValueAsBytes(value).length;
    }
}
