package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.GatewayError;
import tools.jackson.databind.JsonNode;

/**
 * The checks of a request for embeddings, whose answer has a vector for each text. A provider bills an answer that is too large to be
 * read, so such a request is refused.
 */
final class EmbeddingsInput {
    /** Dimensions of a vector, unless the request has them. */
    private static final int DIMENSIONS = 1_536;
    /** Most bytes of a number in an answer, with indentation. */
    private static final int NUMBER = 32;
    /** Bytes of a vector without its numbers. */
    private static final int AROUND = 256;
    private static final int TOO_LARGE = 413;

    private EmbeddingsInput() {}

    /** @throws GatewayError {@code invalid_request}, or {@code answer_too_large} if the answer may be too large to be read */
    static void check(JsonNode body) throws GatewayError {
        long texts = texts(body.path("input"));
        JsonNode dimensions = body.path("dimensions");
        if (body.hasNonNull("dimensions") && !(dimensions.isIntegralNumber() && dimensions.canConvertToInt()
                && dimensions.intValue() > 0)) {
            throw ProgramRequest.invalid("'dimensions' must be a whole number above 0");
        }
        JsonNode format = body.path("encoding_format");
        if (body.hasNonNull("encoding_format") && !format.asString("").equals("float")
                && !format.asString("").equals("base64")) {
            throw ProgramRequest.invalid("'encoding_format' must be float or base64");
        }
        long size = dimensions.asInt(DIMENSIONS);
        long vector =
                AROUND + (format.asString("").equals("base64") ? (size * Float.BYTES + 2) / 3 * 4 : size * NUMBER);
        if (texts > 1 && texts * vector > PassingClient.MAX_BYTES) {
            throw new GatewayError(TOO_LARGE, "answer_too_large", "the answer may have more than "
                    + (PassingClient.MAX_BYTES >> 20) + " MiB: nothing was sent; request at most "
                    + PassingClient.MAX_BYTES / vector + " texts at a time, or 'encoding_format' base64"
                    + (body.hasNonNull("dimensions") ? "" : ", or name the 'dimensions' of the model's vectors"));
        }
    }

    /** The number of texts: a text is a string, or a list of tokens. */
    private static long texts(JsonNode input) throws GatewayError {
        if (input.isString() || !input.isEmpty() && input.valueStream().allMatch(EmbeddingsInput::isToken)) {
            return 1;
        }
        if (!input.isEmpty() && (input.valueStream().allMatch(JsonNode::isString) || input.valueStream().allMatch(
                text -> text.isArray() && !text.isEmpty() && text.valueStream().allMatch(EmbeddingsInput::isToken)))) {
            return input.size();
        }
        throw ProgramRequest
                .invalid("'input' must be a text, a list of texts, a list of tokens or a list of such lists");
    }

    private static boolean isToken(JsonNode token) {
        return token.isIntegralNumber() && token.canConvertToLong() && token.longValue() >= 0;
    }
}
